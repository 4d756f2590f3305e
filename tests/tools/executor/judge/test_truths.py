"""Whose fault it is when the judge cannot answer, and what the reference itself does."""

import importlib.util
import os
from pathlib import Path

import pytest
import torch

from benchmark import suites
from benchmark.checkers import close
from benchmark.task import Contract, Task, shown
from tools.executor import memory
from tools.executor.judge.judge import Judge
from tools.executor.judge.references import Here
from tools.executor.judge.truths import TaskFault, Truths, blamed


def own(folder: Path, body: str) -> Task:
    """A task of ours that returns what `body` says."""
    (folder / "own.py").write_text(f"import torch\ndef operator(x):\n    {body}\n")
    spec = importlib.util.spec_from_file_location("own", folder / "own.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Task("ours/operator", "Own", "torch", module.operator, shown({"plain": lambda d: {"x": d.normal(9)}}), (), Contract(close()))


def test_exception_of_the_tasks_code_is_the_tasks_fault():
    with pytest.raises(TaskFault, match="ZeroDivisionError"), blamed():
        1 / 0  # noqa: B018


@pytest.mark.parametrize("shortage", [MemoryError, torch.OutOfMemoryError])
def test_want_of_memory_is_ours(shortage):
    with pytest.raises(shortage), blamed():
        raise shortage


@pytest.mark.parametrize(
    ("body", "shared"),
    [
        ("return x * 2", []),
        ("return x[1:]", [{"output": 0, "with": "input", "number": 0}]),
        ("y = x * 2; return y, y[:3]", [{"output": 1, "with": "output", "number": 0}]),
    ],
)
def test_memory_that_the_reference_shares_is_known(tmp_path, body, shared):
    task = own(tmp_path, body)
    truths = Truths()
    truths.reference = Here(task)
    assert truths.shared(task, task.cases[0].name, 0) == shared


def test_operators_of_the_reference_are_known(tmp_path):
    task = own(tmp_path, "return torch.cat([x.relu(), x])")
    truths = Truths()
    truths.reference = Here(task)
    truth = truths.truth(task, task.cases[0].name, 0)
    assert {"relu", "cat"} <= truth.operators
    assert truth.moves == {"cat"}


@pytest.fixture
def judge(tmp_path, monkeypatch) -> Judge:
    """One that has sent the inputs of an operator that returns a view."""
    made, fd = Judge(), None
    task = own(tmp_path, "return x[1:]")
    monkeypatch.setattr(suites, "find", lambda task_id: task)
    fd, described = memory.host("simulated")
    made.open({"memory": described, "device": "cpu", "task": task.id, "sha": task.sha}, [fd])
    os.close(fd)
    made.inputs({"case": task.cases[0].name, "seed": 0}, [])
    return made


def answer(judge: Judge, shared: object) -> dict:
    """The check of a right answer, of which the sandbox says what it shares memory with."""
    x = judge.truths.arguments(judge.task, *judge.sent)["x"]
    judge.returned.clear()
    layout = {"result": judge.returned.write(x[1:].contiguous()), "after": [judge.returned.write(x)]}
    return judge.check(layout | {"shared": shared}, [])


def test_memory_shared_as_the_reference_shares_it_is_no_aliasing(judge):
    assert answer(judge, [{"output": 0, "with": "input", "number": 0}])["aliasing"] is None


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({"output": 0, "with": "input", "number": 1}, "its input"),
        ({"output": 0, "with": "output", "number": 0}, "another output"),
        ({"output": 0, "with": "earlier", "number": 3}, "an earlier call"),
        ({"with": ["?"]}, "an earlier call"),
    ],
)
def test_other_sharing_is_named(judge, claim, words):
    found = answer(judge, [claim])
    assert found["ok"]
    assert words in found["aliasing"]


@pytest.mark.parametrize("claim", [None, 3, "x", [], [None], {"a": 1}])
def test_forged_claims_of_sharing_do_no_harm(judge, claim):
    assert answer(judge, claim)["aliasing"] is None


def test_hostile_layouts_are_the_candidates_fault(judge):
    for layout in ({"t": 1}, {"l": [{"t": {}}]}, {"f": "x"}, {"a": 99}, [], None):
        found = judge.check({"result": layout, "after": None}, [])
        assert (found["ok"], found["kind"]) in ((False, "wrong_dtype"), (False, "wrong_shape"))
