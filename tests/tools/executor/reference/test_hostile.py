"""Task files that mean harm: behind walls they reach nothing, and at worst their own task is invalid."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.task import Task
from tools.evaluation import Evaluation
from tools.executor import referee
from tools.executor.local import LocalExecutor
from tools.settings import Settings

Find = Callable[..., Task]
HEAD = "import os, signal, sys, time\nimport torch\n"
INPUTS = "def inputs():\n    return {'x': torch.randn(64)}\n"
PLAIN = "def f(x):\n    return x * 2\n"
DOUBLE = """
import torch, triton, triton.language as tl
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
def f(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=64)
    return y
"""


def test_a_file_reads_nothing_of_ours_and_writes_nothing_outside(sentence: Callable[..., str], tmp_path: Path) -> None:
    for attempt in (f"open({str(tmp_path / 'ops.py')!r})", f"open({referee.__file__!r})", f"open({str(tmp_path / 'new')!r}, 'w')"):
        said = sentence(HEAD + attempt + "\n" + INPUTS + PLAIN)
        assert "PermissionError" in said or "Read-only" in said or "No such file" in said, said
    assert not (tmp_path / "new").exists()


def test_a_file_finds_no_module_of_ours(sentence: Callable[..., str]) -> None:
    said = sentence(HEAD + "import tools.executor.judge.judge\n" + INPUTS + PLAIN)
    assert "ModuleNotFoundError" in said or "PermissionError" in said


def test_a_file_finds_no_secret_in_its_environment(sentence: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    assert "KeyError" in sentence(HEAD + "os.environ['SOME_API_KEY']\n" + INPUTS + PLAIN)


def test_a_file_that_ends_its_process_is_said(sentence: Callable[..., str]) -> None:
    assert "its process ended" in sentence(HEAD + "os._exit(0)\n" + INPUTS + PLAIN)


def test_a_file_that_never_ends_is_said(sentence: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(referee, "READ_S", 1.0)
    assert "is not done in 1 s" in sentence(HEAD + "while True: pass\n" + INPUTS + PLAIN)


def test_a_file_that_prints_a_lot_holds_nothing_up(own: Find) -> None:
    assert own(HEAD + "print('x' * (1 << 22))\n" + INPUTS + PLAIN).name == "f"


def test_an_answer_that_is_forged_is_refused(sentence: Callable[..., str]) -> None:
    forge = "for fd in range(3, 64):\n    try:\n        os.write(fd, b'{\"id\": 1}')\n    except OSError:\n        pass\n"
    said = sentence(HEAD + forge + INPUTS + "def f(x):\n    return\n")
    assert said


LATER = "count = 0\ndef f(x):\n    global count\n    count += 1\n    {}\n    return x * 2\n"
"""Harmless while it is described, in which it is called some four times; and again in the evaluation's own process."""


def test_an_honest_file_is_judged_by_what_it_says(own: Find, evaluate_task: Callable[..., Evaluation]) -> None:
    task = own(HEAD + INPUTS + PLAIN)
    assert evaluate_task(DOUBLE, task).verdict == "pass"
    assert evaluate_task(DOUBLE.replace("* 2", "* 3"), task).verdict == "wrong_numeric"
    assert evaluate_task("import torch\ndef f(x):\n    return x * 2\n", task).verdict == "not_triton"


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        pytest.param("if count > 30: os._exit(0)", "the reference's process ended", marks=pytest.mark.slow),
        ("if count > 30: raise ValueError('not today')", "the reference fails: ValueError: not today"),
        pytest.param("while count > 30: pass", "the reference gave no answer in time", marks=pytest.mark.slow),
    ],
)
def test_a_reference_that_fails_later_makes_the_task_invalid(
    own: Find, evaluate_task: Callable[..., Evaluation], harm: str, says: str
) -> None:
    # Described in one process and evaluated in another: only the second one sees the file that says so.
    task = own(HEAD + INPUTS + LATER.format(harm))
    for attempt in range(4):
        found = evaluate_task(DOUBLE + f"# {attempt}\n", task)
        if found.verdict != "pass":
            break
    assert (found.verdict, found.error and says in found.error.message) == ("task_invalid", True), found.error
    assert evaluate_task(DOUBLE, own(HEAD + INPUTS + PLAIN)).verdict == "pass"


FORGED = """
import sys, json
room = sys.modules["tools.executor.reference.room"]
def do_describe(self, request):
    found = room.describe(self.known, self)
    {}
    with open(self.sandbox.channel.fds.pop(), "wb") as file:
        file.write(json.dumps(found).encode())
    return {{}}
room.References.do_describe = do_describe
"""
"""A file that speaks for the adapter in whose process it runs."""
CLASS = {"name": "New", "order": ["x"], "inputs": ["x"], "init": [], "state": {}}


@pytest.mark.parametrize(
    "forged",
    [
        "found['cases'][0]['layout']['x'] = {'t': {'dtype': 'float32', 'shape': [3], 'strides': [1, 1]}}",
        "found['cases'][0]['layout']['x'] = {'t': {'dtype': 'float32', 'shape': [1 << 47, 1 << 47], 'strides': [1, 1]}}",
        "found['model'] = 3", "found['model'] = {'name': 'New'}", f"found['model'] = {CLASS | {'init': ['y']}}",
        f"found['model'] = {CLASS | {'state': {'x': 3}}}",
    ],
)  # fmt: skip
def test_a_description_that_makes_no_sense_is_refused(sentence: Callable[..., str], forged: str) -> None:
    assert "makes no sense" in sentence(HEAD + INPUTS + PLAIN + FORGED.format(forged))


@pytest.mark.parametrize(
    "forged",
    [
        FORGED.format("found['cases'][0]['name'] = 'x' * 200000"),
        FORGED.format(f"found['model'] = {CLASS} | {{'order': ['x' * 200000]}}"),
        "import sys\nsys.modules['tools.executor.reference.room'].References.do_inputs = lambda self, request: {'arguments': {}}\n",
        "import sys\nsys.modules['tools.executor.reference.room'].References.do_work = lambda self, request: {'work': {}, 'eager': 3}\n",
    ],
)
def test_a_forgery_makes_the_task_invalid_and_spoils_no_other(own: Find, evaluate_task: Callable[..., Evaluation], forged: str) -> None:
    assert evaluate_task(DOUBLE, own(HEAD + INPUTS + PLAIN + forged)).verdict == "task_invalid"
    assert evaluate_task(DOUBLE, own(HEAD + INPUTS + PLAIN)).verdict == "pass"


EARLY = """
import gc, sys, torch, triton, triton.language as tl
@triton.jit
def copy(x, y, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(y + at, tl.load(x + at, mask=at < n), mask=at < n)
found, inside = [], []
def collected(phase, info):
    frame, seen = sys._getframe(), []
    while frame and "request" not in frame.f_locals:
        seen.append(frame.f_code.co_name)
        frame = frame.f_back
    if frame is None or "_arguments" not in [frame.f_code.co_name, *seen] or inside:
        return
    inside.append(1)
    box = getattr(frame.f_locals["self"], "sandbox", frame.f_locals["self"])
    found[:] = [box.session.to_device(box.inputs.read(frame.f_locals["request"]["args"][0]) * 2)]
    inside.clear()
gc.callbacks.append(collected)
gc.set_threshold(1, 1 << 30)
def f(x):
    y = torch.empty_like(x)
    copy[(1,)](found[0], y, x.numel(), B=64)
    return y
"""


def test_what_torch_computes_while_arguments_arrive_is_seen(own: Find, executor: LocalExecutor) -> None:
    # What runs at each collection takes long on a busy machine.
    settings = Settings(device="simulated", case_s=60.0, timing="off", profile="off")
    found = asyncio.run(executor.evaluate(EARLY, own(HEAD + INPUTS + PLAIN), settings))
    assert (found.verdict, found.stage) == ("not_triton", "adversarial"), found.error
