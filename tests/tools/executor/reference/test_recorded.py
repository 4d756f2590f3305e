"""Files in the formats of KernelBench-X and TritonBench, written by hand: the tests' calls become the cases."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmark import words
from benchmark.errors import UserError
from benchmark.task import Task
from tools.evaluation import Evaluation
from tools.tasks import Finder

LINE = "\n" + "#" * 146 + "\n"
SCALE = '''
import torch

def scaled(input, factor=2.0, out=None):
    """The input times a factor."""
    return torch.mul(input, factor, out=out)
'''
TESTS = """
import torch
import sys
import os
sys.path.append(os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../utils")))
from helpers_of_ours import made

def test_scaled():
    results = {}
    results["plain"] = scaled(torch.tensor([1.0, 2.0, 3.0], device='cuda'))
    results["factor"] = scaled(made((5, 7)), factor=3.0)
    results["out"] = scaled(made((4,)), out=torch.empty(4, device='cuda'))
    try:
        results["error"] = scaled("no tensor")
    except TypeError:
        results["error"] = "refused"
    return results

test_results = test_scaled()
"""
HELPERS = "import torch\ndef made(shape):\n    return torch.randn(shape, device='cuda')\n"
KERNEL = """
import torch, triton, triton.language as tl
@triton.jit
def kernel(x, y, factor, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)
def scaled(input, factor=2.0, out=None):
    y = torch.empty_like(input) if out is None else out
    kernel[(triton.cdiv(input.numel(), 64),)](input, y, factor, input.numel(), BLOCK=64)
    return y
"""
Find = Callable[..., Task]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "utils").mkdir()
    (tmp_path / "utils" / "helpers_of_ours.py").write_text(HELPERS)
    (tmp_path / "data" / "kernelbenchx" / "Math").mkdir(parents=True)
    (tmp_path / "data" / "TritonBench_G_v1").mkdir()
    return tmp_path


@pytest.fixture
def task_of(finder: Finder, checkout: Path) -> Find:
    def find(implementation: str = SCALE, tests: str = TESTS, **args: Any) -> Task:
        (checkout / "data" / "kernelbenchx" / "Math" / "scaled.py").write_text(implementation + LINE + tests)
        return finder.find(f"kernelbenchx:{checkout}/Math/scaled", args)

    return find


def test_calls_that_return_become_cases_with_their_arguments(task_of: Find) -> None:
    task = task_of()
    shown = [case for case in task.cases if not case.held_out]
    assert [case.name for case in shown] == ["call-1", "call-2", "call-3"]
    arguments = shown[1].arguments(task.id, 0, "meta")
    assert (tuple(arguments["input"].shape), arguments["factor"]) == ((5, 7), 3.0)
    assert (task.signature, task.category, task.contract.mutates) == ("scaled(input, factor=2.0, out=None)", "Math", ("out",))


def test_held_out_cases_have_other_values_even_where_the_tests_have_constants(task_of: Find) -> None:
    assert [case.name for case in task_of().cases if case.held_out] == ["other-1", "other-2", "other-3"]


def test_the_prompt_shows_the_function_and_not_the_tests(task_of: Find) -> None:
    text = words.describe(task_of())
    assert "def scaled" in text["reference"]
    assert "test_scaled" not in text["reference"]
    assert text["semantics"] == "The input times a factor."


def test_a_kernel_is_judged_by_the_recorded_calls(task_of: Find, evaluate_task: Callable[..., Evaluation]) -> None:
    found = evaluate_task(KERNEL, task_of())
    assert found.verdict == "pass", found.error
    wrong = evaluate_task(KERNEL.replace("* factor, mask", "* 2.0, mask"), task_of())
    assert (wrong.verdict, wrong.error.detail["case"]) == ("wrong_numeric", "call-2")


def test_an_out_argument_must_be_written(task_of: Find, evaluate_task: Callable[..., Evaluation]) -> None:
    found = evaluate_task(KERNEL.replace("if out is None else out", ""), task_of())
    assert (found.verdict, found.error.detail["case"]) == ("wrong_shape", "call-3")


def test_a_call_that_draws_at_random_is_left_out_and_said(task_of: Find) -> None:
    random = SCALE.replace("return ", "input = torch.dropout(input, 0.5, True) if factor == 3.0 else input\n    return ")
    task = task_of(random)
    assert "call-2" not in [case.name for case in task.cases]
    assert "have no one right answer and are left out" in words.describe(task)["contract"]


def test_the_entry_is_the_function_that_the_tests_call(task_of: Find) -> None:
    renamed = task_of(SCALE.replace("def scaled", "def step"), TESTS.replace("scaled(", "step("))
    assert renamed.entry_name == "step"


def test_a_reference_of_kernels_is_interpreted_and_its_kernels_are_not_shown(finder: Finder, checkout: Path) -> None:
    implementation = KERNEL.replace(
        "import torch, triton, triton.language as tl", "import torch\nimport triton\nimport triton.language as tl"
    )
    tests = "import torch\ndef test_it():\n    return scaled(torch.randn(70, device='cuda'))\nresult_gold = test_it()\n"
    (checkout / "data" / "TritonBench_G_v1" / "scaled.py").write_text(implementation + LINE + tests)
    task = finder.find(f"tritonbench_g:{checkout}/scaled")
    assert "triton.jit" not in task.text
    assert "def scaled" in task.text


@pytest.mark.parametrize(
    ("implementation", "tests", "says"),
    [
        (SCALE, "def test_scaled():\n    pass\n", "call none of its functions"),
        (SCALE, "def test_scaled():\n    if False:\n        scaled(1)\ntest_scaled()\n", "make no call of scaled"),
        (SCALE, "scaled('x')\n", "fail on its own function: TypeError"),
        ("import nowhere_at_all\n" + SCALE, TESTS, "No module named 'nowhere_at_all'"),
        ("def scaled(:\n", TESTS, "cannot be imported: SyntaxError"),
    ],
)
def test_a_mistake_is_one_sentence(task_of: Find, implementation: str, tests: str, says: str) -> None:
    with pytest.raises(UserError) as error:
        task_of(implementation, tests)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_without_the_line_is_no_task_file(finder: Finder, checkout: Path) -> None:
    (checkout / "data" / "kernelbenchx" / "Math" / "scaled.py").write_text(SCALE)
    with pytest.raises(UserError, match="no line of 146"):
        finder.find(f"kernelbenchx:{checkout}/Math/scaled")
