"""The profile stage fills the record, and whatever fails in it changes no verdict."""

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from benchmark.suites import find
from tools.evaluation import Evaluation, TimedSize, Timing
from tools.executor.stages.profiling import Profiling
from tools.executor.stages.verdicts import Stop
from tools.roofline import minimal
from tools.settings import Settings

TASK = find("quick/add")


class Course:
    """One that has passed and was timed; its sandbox answers with `reply`, or ends."""

    def __init__(self, reply: dict[str, Any] | Stop, profile: str = "roofline", device: str = "NVIDIA H200", level: str = "full") -> None:
        self.task, self.settings, self.reply = TASK, Settings(profile=profile), reply
        self.cases = {"timing": [{"name": case.name, "held_out": False} for case in TASK.timing]}
        self.record = Evaluation("sha", TASK.id, device=device, isolation={"level": level, "layers": []})
        sizes = [TimedSize(case.name, 100.0, 100.0, 1.0, [1.0, 1.0]) for case in TASK.timing]
        self.record.timing = Timing("eager", sizes, 1.0, [1.0, 1.0])
        self.worker = None
        self.asked: list[dict[str, Any]] = []

    def reopen(self) -> None: ...

    @contextlib.contextmanager
    def gpu(self, shared: bool) -> Iterator[None]:
        yield

    def judge(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["op"] == "inputs":
            return {"args": [], "kwargs": {}}
        work = minimal(TASK, TASK.case(request["case"]).arguments(TASK.id, 0, "meta"))
        assert work is not None
        return {"work": asdict(work)}

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        self.asked.append(request)
        if isinstance(self.reply, Stop):
            raise self.reply
        return self.reply


def profiled(course: Course) -> dict[str, Any]:
    Profiling(course).run()  # type: ignore[arg-type]
    assert course.record.profile is not None
    return course.record.profile


KERNELS = {"kernels": [{"name": "add_kernel", "us": 90.0, "calls": 5, "own": True}, {"name": "fill", "us": 10.0, "calls": 5, "own": False}]}


def test_each_size_is_held_against_the_roofline() -> None:
    found = profiled(Course(KERNELS))["roofline"]
    assert [size["case"] for size in found] == [case.name for case in TASK.timing]
    assert (found[-1]["bound"], found[-1]["gb_s"]) == ("memory", 4026.5)


def test_time_by_kernel_is_that_of_the_largest_size() -> None:
    found = profiled(Course(KERNELS))["kernels"]
    assert (found["case"], found["own_share"], found["self_reported"]) == ("time-33554432", 0.9, True)


@pytest.mark.parametrize("forged", [{"us": float("nan")}, {"us": "1"}, {"us": -1.0}, {"us": True}])
def test_forged_times_count_nothing(forged: dict[str, Any]) -> None:
    assert profiled(Course({"kernels": [{"name": "k", "calls": 1, "own": True} | forged]}))["kernels"]["own_share"] is None


def test_a_sandbox_that_ends_is_an_error_of_its_part_alone() -> None:
    found = profiled(Course(Stop("timeout", "no answer in time at stage profile")))
    assert found["kernels"] == {"error": "no answer in time at stage profile"}
    assert len(found["roofline"]) == 4


def test_a_fault_of_ours_is_raised() -> None:
    with pytest.raises(Stop):
        profiled(Course(Stop("infra_error", "the judge is gone")))


def test_unknown_hardware_has_no_roofline() -> None:
    assert profiled(Course(KERNELS, device="Some Card"))["roofline"] == {"error": "there is no hardware sheet for Some Card"}


@pytest.mark.skipif(shutil.which("ncu") is not None, reason="Nsight Compute is installed here")
def test_without_the_profiler_there_is_a_sentence() -> None:
    found = profiled(Course(KERNELS, profile="ncu"))
    assert found["ncu"] == {"error": "ncu is not installed"}
    assert "ncu" not in profiled(Course(KERNELS))
