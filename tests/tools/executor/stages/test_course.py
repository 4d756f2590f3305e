"""What the course makes of tasks that fail, and of judges that do."""

import asyncio
import contextlib
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from benchmark.suites import find
from tests.tools.conftest import SETTINGS
from tools.executor.stages.course import Course
from tools.executor.stages.verdicts import Stop
from tools.settings import Settings

KERNEL = """
import torch, triton, triton.language as tl
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
def double(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=16)
    return y
"""
OWN = """
import torch
def double(x):
    return x * 2
def inputs():
    fill = 0 if torch.initial_seed() in {seeds} else 1
    return {{"x": torch.zeros(1 << 27) if fill == 0 else torch.randn(9)}}
"""


def task(folder: Path, *seeds: int) -> str:
    """A task whose first case is larger than the shared memory for some seeds."""
    name = f"{folder}/own.py:double"
    drawn = [int.from_bytes(hashlib.sha256(f"{name}/inputs-0/{seed}".encode()).digest()[:7]) for seed in seeds]
    (folder / "own.py").write_text(OWN.format(seeds=drawn))
    return name


def test_case_that_cannot_be_given_once_more_is_the_tasks_fault(evaluate, tmp_path):
    found = evaluate(KERNEL, task(tmp_path, 1))
    assert found.verdict == "task_invalid", found.error
    assert "larger than the shared memory" in found.error.message


def test_case_of_another_seed_changes_nothing(evaluate, tmp_path):
    assert evaluate(KERNEL, task(tmp_path, 77)).verdict == "pass"


def test_numbers_drawn_for_a_candidate_are_its_own_and_stay(tmp_path):
    def drawn(candidate, purpose="order"):
        return Course(None, candidate, find("quick/gelu"), SETTINGS).drawn(purpose)

    assert drawn("one") == drawn("one")
    assert len({drawn("one"), drawn("two"), drawn("one", "poison")}) == 3


WRONG_THEN_SLOW = """
import torch, triton, triton.language as tl
@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr, UNROLL: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    for i in tl.static_range(UNROLL):
        value = value * 0 + i
    tl.store(y + at, value, mask=at < n)
calls = []
def silu(input, inplace=False):
    calls.append(input)
    y = torch.empty_like(input)
    kernel[(1,)](input, y, input.numel(), BLOCK=4096, UNROLL=1 if len(calls) == 1 else 1000000)
    return y
"""


def test_stage_of_a_verdict_is_that_of_the_case_it_is_about(evaluate):
    found = evaluate(WRONG_THEN_SLOW, "quick/silu", replace(SETTINGS, compile_s=1.0))
    assert [case.kind for case in found.cases] == ["nonfinite", "timeout"]
    assert (found.verdict, found.stage) == ("nonfinite", "correctness"), found.error


FORGED = """
import os, sys
def silu(input, inplace=False):
    frame = sys._getframe()
    while not isinstance(frame.f_locals.get("request"), dict):
        frame = frame.f_back
    answer = {answer}.replace("ID", str(frame.f_locals["request"]["id"])).encode()
    for fd in range(3, 32):
        try:
            os.write(fd, answer)
        except OSError:
            pass
"""


@pytest.mark.parametrize(
    "answer",
    [
        """'{"id": ID, "result": {"v": 1e999}}'""",
        """('{"id": ID, "compiles": [{"seconds": ' + "9" * 400 + "}]}")""",
        """('{"id":ID,"result":[' + ",".join(["1e15"] * 20000) + "]}")""",
    ],
)
def test_forged_answer_is_a_verdict_whatever_it_holds(evaluate, answer):
    found = evaluate(FORGED.replace("{answer}", answer), "quick/silu")
    assert found.verdict == "suspected_hack", found.error
    assert "channel" in found.error.message


@pytest.mark.parametrize("source", ["", "x = '\udc80'", "#" * (1 << 19), "x = ("])
def test_evaluation_says_where_it_was_made_whatever_the_candidate_is(executor, evaluate, source):
    found = evaluate(source)
    assert found.environment_sha == asyncio.run(executor.environment(SETTINGS))
    assert found.isolation["level"]


def test_what_is_said_of_compilations_during_held_out_cases_tells_nothing_but_marked_kernels() -> None:
    def report(seconds: float, error: str | None, *names: str) -> dict[str, Any]:
        return {"target": "cuda:90", "kernels": [{"name": name} for name in names], "seconds": seconds, "error": error}

    course = Course(cast(Any, None), "", find("quick/softmax"), Settings())
    course.note_compiled([report(1.0, None, "rows")])
    course.marks, course.built = {"stdout": 0, "stderr": 0}, {"cuda:90": 1}
    course.note_compiled([report(17.211, "17 by 211", "renamed", "of_211"), report(2.0, None)])
    shown = report(1.0, "a kernel for inputs not shown", "rows")
    assert course.record.public()["compile"] == [shown]
    assert course.record.compile[0]["kernels"][1] == {"name": "of_211", "held_out": True}


class Crowded(Course):
    """On a GPU whose memory others have until it is held alone."""

    device = True

    def __init__(self, source: str, free: float = 1.0, hungry: bool = False):
        super().__init__(cast(Any, None), source, find("quick/gelu"), replace(SETTINGS, timing="off"))
        self.held: list[bool] = []
        self.free = free
        self.hungry = hungry

    def gpu(self, shared):
        self.held.append(shared)
        return contextlib.nullcontext()

    def open(self):
        pass

    def _close_sandbox(self):
        pass

    def _remember(self):
        pass

    def judge(self, request, fds=()):
        assert request == {"op": "free"}
        return {"free": int(self.free * (80 << 30)), "total": 80 << 30}

    def _calls(self):
        if self.held[-1] or self.hungry:
            self.record.cases.append(cast(Any, "of the first try"))
            raise Stop("oom", "out of memory")


def test_memory_that_others_hold_is_held_against_nobody():
    course = Crowded(KERNEL)
    course._stages()
    assert course.held == [True, False]
    assert course.record.cases == []


@pytest.mark.parametrize(("free", "verdict"), [(0.9, "oom"), (0.1, "infra_error")])
def test_memory_that_is_not_there_for_one_alone_is_held_against_whoever_has_it(free, verdict):
    course = Crowded(KERNEL, free, hungry=True)
    with pytest.raises(Stop) as stop:
        course._stages()
    assert stop.value.failure.kind == verdict
