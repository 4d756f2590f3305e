import ast

import pytest

from tools.executor.sandbox.static import facts, parse

SOURCE = """
import torch
import triton.language as tl
from math import prod

@triton.jit
def kernel(x): pass

@triton.autotune(configs=[], key=[])
@triton.jit
def tuned(x): pass

def softmax(x):
    return torch.softmax(x, -1) + torch.nn.functional.gelu(x)
"""


def test_facts_name_imports_kernels_functions_and_torch_calls():
    found = facts(parse(SOURCE))
    assert found == {
        "imports": ["math", "torch", "triton.language"],
        "kernels": ["kernel", "tuned"],
        "functions": ["softmax"],
        "torch_calls": ["torch.nn.functional.gelu", "torch.softmax"],
    }


def test_syntax_error_tells_its_line():
    found = parse("x = 1\ndef f(:\n")
    assert (found["kind"], found["detail"]["line"]) == ("syntax_error", 2)


@pytest.mark.parametrize("source", ["x = '\0'", "(" * 500 + ")" * 500, "-" * 100_000 + "1"])
def test_source_that_the_parser_cannot_take_is_a_syntax_error(source):
    assert parse(source)["kind"] == "syntax_error"


@pytest.mark.parametrize("source", ["x = 1", b"x = 1", b"\xef\xbb\xbfx = 1", b"# -*- coding: latin-1 -*-\nx = '\xe9'"])
def test_parse_reads_what_python_imports(source):
    assert isinstance(parse(source), ast.Module)
