from pathlib import Path

import pytest
import torch

from benchmark import lint, oracle, suites, words
from benchmark.errors import UserError

GELU = '''
import torch

def _bias(x, bias):
    return x + bias

def bias_gelu(x, bias):
    """GELU of x + bias."""
    return torch.nn.functional.gelu(_bias(x, bias))

def inputs():
    return {"x": torch.randn(7, 33), "bias": torch.randn(33)}
'''

RANDN = """
import os
import torch
def inputs():
    return {"x": torch.randn(3, 5)}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str) -> None:
    (folder / "ops.py").write_text(text)


def message(task: str) -> str:
    with pytest.raises(UserError) as error:
        suites.find(task)
    return str(error.value)


def test_a_function_with_inputs_is_a_task(here: Path) -> None:
    write(here, GELU)
    task = suites.find("./ops.py:bias_gelu")
    assert (task.id, task.suite, task.name, task.entry_name) == ("./ops.py:bias_gelu", "own", "bias_gelu", "bias_gelu")
    assert suites.find(task.id).sha == task.sha
    assert "_bias" in words.describe(task)["reference"]


def test_inputs_follow_the_seed_and_come_in_a_second_dtype(here: Path) -> None:
    write(here, GELU)
    task = suites.find("./ops.py:bias_gelu")
    first, other = (task.cases[0].arguments(task.id, seed)["x"] for seed in (0, 1))
    assert not torch.equal(first, other)
    assert torch.equal(first, task.cases[0].arguments(task.id, 0)["x"])
    assert task.case("inputs-0-bfloat16").arguments(task.id, 0)["x"].dtype == torch.bfloat16
    assert any(case.held_out for case in task.cases)


def test_the_callers_generator_is_left_alone(here: Path) -> None:
    write(here, GELU)
    torch.manual_seed(5)
    expected = torch.randn(1)
    torch.manual_seed(5)
    suites.find("./ops.py:bias_gelu").cases[0].arguments("x", 0)
    assert torch.equal(torch.randn(1), expected)


def test_it_stands_up_to_lint(here: Path) -> None:
    write(here, GELU)
    assert lint.lint(suites.find("./ops.py:bias_gelu")).faults == []


def test_several_inputs_and_sizes_to_time(here: Path) -> None:
    write(
        here, GELU.replace("return {", "return [{").replace("randn(33)}", "randn(33)}] * 2") + "\ndef timing():\n    return inputs()[:1]\n"
    )
    task = suites.find("./ops.py:bias_gelu")
    assert len([case for case in task.cases if not case.held_out]) == 4
    assert [case.name for case in task.timing] == ["time-0"]


def test_an_argument_that_the_function_writes_is_declared(here: Path) -> None:
    write(here, "import torch\ndef scale_(x):\n    x.mul_(2)\ndef inputs():\n    return {'x': torch.randn(3, 5)}\n")
    task = suites.find("./ops.py:scale_")
    assert task.contract.mutates == ("x",)
    arguments = task.cases[0].arguments(task.id, 0)
    assert torch.equal(oracle.compute(task, arguments).honest[0], 2 * arguments["x"])


def test_inputs_may_draw_with_numpy_and_random_and_carry_gradients(here: Path) -> None:
    text = "import numpy, random, torch\ndef f(x, y, k):\n    return x @ y * k\ndef inputs():\n"
    write(here, text + "    y = torch.nn.Parameter(torch.randn(4, 3))\n    return {'x': torch.tensor(numpy.random.rand(2, 4)).float(), "
          "'y': y, 'k': random.random()}\n")  # fmt: skip
    task = suites.find("./ops.py:f")
    one, other = (task.cases[0].arguments(task.id, seed) for seed in (0, 1))
    assert not torch.equal(one["x"], other["x"])
    assert one["k"] != other["k"]
    assert type(one["y"]) is torch.Tensor
    assert not one["y"].requires_grad
    assert suites.find(task.id).sha == task.sha


def test_it_may_import_what_lies_beside_it(here: Path) -> None:
    (here / "beside_ops.py").write_text("TWO = 2\n")
    write(here, "import beside_ops\n" + RANDN + "def f(x):\n    return x * beside_ops.TWO\n")
    assert suites.find("./ops.py:f").name == "f"


def test_a_second_dtype_that_the_operator_does_not_take_is_left_out(here: Path) -> None:
    write(here, RANDN.replace("(3, 5)", "(5, 5)") + "def f(x):\n    return torch.linalg.inv(x)\n")
    assert [case.name for case in suites.find("./ops.py:f").cases] == ["inputs-0", "others-0"]


def test_a_declared_task_is_taken_as_it_is(here: Path) -> None:
    text = "from dataclasses import replace\nfrom benchmark import suites\nmine = replace(suites.find('quick/gelu'), category='Mine')\n"
    write(here, text)
    task = suites.find("./ops.py:mine")
    assert (task.id, task.category, task.entry_name) == ("./ops.py:mine", "Mine", "gelu")


@pytest.mark.parametrize(
    ("text", "function", "says"),
    [
        (GELU, "bias_gelo", "bias_gelu"),
        ("def f(x):\n    return x\n", "f", "has no inputs()"),
        ("def f(x:\n", "f", "cannot be imported: SyntaxError"),
        ("raise ValueError('no')\n", "f", "cannot be imported: ValueError: no"),
        ("def f(x):\n    return x\ndef inputs():\n    return {'y': 1}\n", "f", "does not fit f(x)"),
        ("def f(x):\n    return x\ndef inputs():\n    return 3\n", "f", "must return a dict"),
        ("def f(x):\n    return x\ndef inputs():\n    return []\n", "f", "must return a dict"),
        ("def f(x):\n    return x\ndef inputs():\n    return {'x': 1}\n", "f", "TypeError"),
        ("def f(x):\n    pass\ndef inputs():\n    return {'x': 1}\n", "f", "nothing to check"),
        ("def f(x):\n    return x.nothing\ndef inputs():\n    return {'x': 1}\n", "f", "fails on its own inputs()"),
        (RANDN + "def f(x):\n    assert x.dtype == torch.float32\n    return x\n", "f", "fails in float64"),
        (RANDN + "def f(x):\n    return torch.dropout(x, 0.5, True)\n", "f", "two answers for the same inputs"),
        ("def f(x):\n    return x\ndef inputs():\n    return [[1]]\n", "f", "not list of list"),
        ("def f(x):\n    return x\ndef inputs():\n    return {'x': object()}\n", "f", "gives x as object"),
        ("def f(x):\n    return x\ndef inputs():\n    raise KeyError('weight\\nand more')\n", "f", "inputs() in ./ops.py fails: KeyError"),
        (RANDN.replace("return", "torch.manual_seed(0); return") + "def f(x):\n    return x * 2\n", "f", "the same values for every seed"),
        (
            RANDN.replace("torch.randn(3, 5)", "torch.tensor(list(os.urandom(9)))") + "def f(x):\n    return x * 2\n",
            "f",
            "other values each time",
        ),
    ],
)
def test_a_mistake_is_one_sentence(here: Path, text: str, function: str, says: str) -> None:
    write(here, text)
    sentence = message(f"./ops.py:{function}")
    assert says in sentence
    assert "\n" not in sentence


def test_a_missing_file_is_said(here: Path) -> None:
    assert "no file './ops.py'" in message("./ops.py:f")
