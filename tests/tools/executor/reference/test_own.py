"""The user's own function, in a sandbox: its cases, its options, and every mistake in one sentence."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from benchmark import words
from benchmark.task import Task
from tools.executor.reference.values import seeded

Find = Callable[..., Task]
GELU = '''
import torch

def _bias(x, bias):
    return x + bias

def bias_gelu(x, bias):
    """GELU of x + bias."""
    return torch.nn.functional.gelu(_bias(x, bias))

def inputs(rows=7, columns=33):
    return {"x": torch.randn(rows, columns), "bias": torch.randn(columns)}
'''
RANDN = """
import os
import torch
def inputs():
    return {"x": torch.randn(3, 5)}
"""


def stored(path: Path, **tensors: list[float]) -> str:
    """A safetensors file of fp32 vectors, written by its format."""
    header, body = "{", b""
    for name, values in tensors.items():
        data = struct.pack(f"<{len(values)}f", *values)
        header += f'"{name}":{{"dtype":"F32","shape":[{len(values)}],"data_offsets":[{len(body)},{len(body) + len(data)}]}},'
        body += data
    head = (header.rstrip(",") + "}").encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + body)
    return str(path)


def shapes(task: Task, case: str) -> dict[str, tuple[int, ...]]:
    found = task.case(case).arguments(task.id, 0, "meta")
    return {name: tuple(value.shape) for name, value in found.items() if isinstance(value, torch.Tensor)}


def test_a_function_with_inputs_is_a_task(own: Find) -> None:
    task = own(GELU, "bias_gelu")
    assert (task.id, task.suite, task.name, task.entry_name) == ("./ops.py:bias_gelu", "own", "bias_gelu", "bias_gelu")
    assert task.signature == "bias_gelu(x, bias)"
    assert [case.name for case in task.cases if not case.held_out] == ["inputs-0", "inputs-0-bfloat16"]
    assert task.case("inputs-0-bfloat16").arguments(task.id, 0, "meta")["x"].dtype == torch.bfloat16


def test_a_prompt_shows_helpers_and_docstring_but_no_inputs(own: Find) -> None:
    text = words.describe(own(GELU, "bias_gelu"))
    assert "def _bias" in text["reference"]
    assert "def inputs" not in text["reference"]
    assert text["semantics"] == "GELU of x + bias."


def test_none_of_the_file_runs_where_the_task_is_held(own: Find) -> None:
    task = own(GELU, "bias_gelu")
    with pytest.raises(AssertionError, match="runs in a reference sandbox only"):
        task.reference(x=torch.ones(1), bias=torch.ones(1))


def test_the_digest_follows_file_and_options(own: Find) -> None:
    first = own(GELU, "bias_gelu").sha
    assert own(GELU, "bias_gelu").sha == first
    assert own(GELU.replace("33", "34"), "bias_gelu").sha != first
    assert own(GELU, "bias_gelu", tolerance=1e-3).sha != first


def test_sizes_to_time_come_from_timing_from_sizes_or_from_an_option(own: Find) -> None:
    task = own(GELU + "\ndef timing():\n    return inputs(5, 4)\n", "bias_gelu")
    assert shapes(task, "time-0")["x"] == (5, 4)
    assert shapes(own(GELU + "\nsizes = [(2, 3)]\n", "bias_gelu"), "time-2x3")["x"] == (2, 3)
    assert shapes(own(GELU, "bias_gelu", sizes=[[8, 16]]), "time-8x16") == {"x": (8, 16), "bias": (16,)}


def test_a_tolerance_is_said_in_the_contract(own: Find) -> None:
    assert "at most 0.001 times" in words.describe(own(GELU, "bias_gelu", tolerance=1e-3))["contract"]


def test_an_argument_that_the_function_writes_is_declared(own: Find) -> None:
    assert own(RANDN + "def f(x):\n    x.mul_(2)\n").contract.mutates == ("x",)


def test_a_reference_that_cannot_do_fp64_gets_a_wider_budget_and_says_so(own: Find) -> None:
    task = own(RANDN + "def f(x):\n    assert x.dtype != torch.float64\n    return x * 2\n")
    assert not task.exact
    assert "cannot compute in float64" in words.describe(task)["contract"]


def test_it_may_import_what_lies_beside_it(own: Find, tmp_path: Path) -> None:
    (tmp_path / "beside_ops.py").write_text("TWO = 2\n")
    task = own("import beside_ops\n" + RANDN + "def f(x):\n    return x * beside_ops.TWO\n")
    before = task.sha
    (tmp_path / "beside_ops.py").write_text("TWO = 3\n")
    assert own((tmp_path / "ops.py").read_text()).sha != before


def test_example_tensors_come_from_a_file(own: Find, tmp_path: Path) -> None:
    file = stored(tmp_path / "examples.safetensors", x=[1.0, 2.0, 3.0])
    task = own("def f(x):\n    return x * 2\n", inputs=file)
    assert shapes(task, "inputs-0") == {"x": (3,)}
    assert "permutations" in words.describe(task)["contract"]


def test_example_tensors_that_no_argument_has_are_named(sentence: Callable[..., str], tmp_path: Path) -> None:
    file = stored(tmp_path / "examples.safetensors", y=[1.0, 2.0])
    assert "has a tensor 'y', and f takes x" in sentence("def f(x):\n    return x * 2\n", inputs=file)


def test_a_file_that_is_no_safetensors_file_is_said(sentence: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "examples.bin").write_bytes(b"\x03\0\0\0\0\0\0\0abc")
    assert "is no safetensors file" in sentence("def f(x):\n    return x\n", inputs=str(tmp_path / "examples.bin"))


def test_generators_go_on_as_they_were() -> None:
    torch.manual_seed(5)
    expected = torch.randn(1)
    torch.manual_seed(5)
    with seeded(0):
        torch.randn(3)
    assert torch.equal(torch.randn(1), expected)


@pytest.mark.parametrize(
    ("text", "function", "says"),
    [
        (GELU, "bias_gelo", "bias_gelu"),
        ("def f(x):\n    return x\n", "f", "has no inputs()"),
        ("def f(x:\n", "f", "cannot be imported: SyntaxError"),
        ("f = abs\ndef inputs():\n    return {}\n", "f", "defines no function: write the operator there as def f(...)"),
        ("def f(x):\n    return x\ndef inputs():\n    return {'x': {'a': 1}}\n", "f", "gives x as dict"),
        ("import numpy\ndef f(x):\n    return x\ndef inputs():\n    return {'x': numpy.float64(1)}\n", "f", "gives x as float64"),
        ("raise ValueError('no')\ndef f(x):\n    return x\ndef inputs():\n    return {}\n", "f", "cannot be imported: ValueError: no"),
        ("def f(x):\n    return x\ndef inputs():\n    return {'y': 1}\n", "f", "does not fit f(x)"),
        ("def f(x):\n    return x\ndef inputs():\n    return 3\n", "f", "must return a dict"),
        ("def f(x):\n    return x\ndef inputs():\n    return []\n", "f", "must return a dict"),
        ("def f(x):\n    return x\ndef inputs():\n    return [[1]]\n", "f", "not list of list"),
        ("def f(x):\n    return x\ndef inputs():\n    return {'x': 1}\n", "f", "TypeError"),
        ("def f(x):\n    pass\ndef inputs():\n    return {'x': 1}\n", "f", "nothing to check"),
        ("def f(x):\n    return x.nothing\ndef inputs():\n    return {'x': 1}\n", "f", "fails on its own inputs"),
        ("def f(x):\n    return x\ndef inputs():\n    return {'x': object()}\n", "f", "gives x as object"),
        ("def f(x):\n    return x\ndef inputs():\n    raise KeyError('weight\\nand more')\n", "f", "inputs() in ./ops.py fails: KeyError"),
        (RANDN + "def f(x):\n    return torch.dropout(x, 0.5, True)\n", "f", "two answers for the same inputs"),
        (RANDN + "def f(x):\n    return torch.ones(3)\n", "f", "make new tensors on the device of the inputs"),
        (RANDN.replace("return", "torch.manual_seed(0); return") + "def f(x):\n    return x * 2\n", "f", "the same values for every seed"),
        (
            RANDN.replace("torch.randn(3, 5)", "torch.tensor(list(os.urandom(9)))") + "def f(x):\n    return x * 2\n",
            "f",
            "other values each",
        ),
    ],
)
def test_a_mistake_is_one_sentence(sentence: Callable[..., str], text: str, function: str, says: str) -> None:
    assert says in sentence(text, function)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"tolerence": 1e-3}, "Did you mean 'tolerance'"),
        ({"tolerance": 2}, "is no relative error"),
        ({"sizes": "large"}, "is no list of sizes"),
        ({"inputs": "nowhere.safetensors"}, "There is no file 'nowhere.safetensors'"),
    ],
)
def test_a_wrong_option_is_one_sentence(sentence: Callable[..., str], args: dict[str, object], says: str) -> None:
    assert says in sentence(GELU, "bias_gelu", **args)
