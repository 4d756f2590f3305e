"""The tested domain: all that was tried is inside, and what differs in one respect is not."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmark import suites
from experiments.export import domain
from experiments.export.runtime import Arguments, Domain

QUICK = [task.id for task in suites.load("quick").tasks]


def tried(task_id: str) -> list[Arguments]:
    """The arguments of a task's cases, on the host."""
    task = suites.find(task_id)
    passed = [{"case": case.name, "ok": True} for case in task.cases if not case.device_only]
    return domain.tested(task, {"cases": passed, "timing": None})


def of(calls: list[Arguments]) -> Domain:
    return Domain({**domain.domain(calls), "device": "cpu"})


HALF = torch.float16
ROWS: list[Arguments] = [
    {"x": torch.zeros(8, 64), "shape": [64], "weight": torch.zeros(64), "eps": 1e-5, "mode": "mean"},
    {"x": torch.zeros(3, 40, dtype=HALF), "shape": [40], "weight": torch.zeros(40, dtype=HALF), "eps": 1e-3, "mode": "mean"},
    {"x": torch.zeros(2, 30), "shape": [30], "weight": torch.zeros(30), "eps": 1e-4, "mode": "sum"},
]


def like(**changes: Any) -> Arguments:
    return {"x": torch.zeros(5, 50), "shape": [50], "weight": torch.zeros(50), "eps": 5e-4, "mode": "mean", **changes}


@pytest.mark.parametrize("task", QUICK)
def test_every_call_that_was_tried_is_inside(task: str) -> None:
    calls = tried(task)
    assert [of(calls).outside(call) for call in calls] == [""] * len(calls)


def test_a_call_of_new_sizes_within_those_that_were_tried_is_inside() -> None:
    assert of(ROWS).outside(like()) == ""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"x": torch.zeros(5, 50, dtype=torch.float64)}, "dtypes"),
        ({"x": torch.zeros(5, 50, dtype=torch.float16)}, "dtypes"),
        ({"x": torch.zeros(1, 5, 50)}, "ranks and options"),
        ({"mode": "max"}, "ranks and options"),
        ({"weight": None}, "dtypes"),
        ({"weight": torch.zeros(49)}, "sizes differ"),
        ({"shape": [49]}, "shape is not the last sizes of x"),
        ({"x": torch.zeros(5, 50).t().contiguous().t()}, "x is not contiguous"),
        ({"x": torch.zeros(0, 50)}, "x is empty"),
        ({"x": torch.zeros(65, 50)}, "x of [65, 50] is larger"),
        ({"eps": 0.1}, "eps=0.1 is not between"),
        ({"x": torch.zeros(5, 50, device="meta")}, "tensors on cpu, meta"),
    ],
)
def test_a_call_that_differs_in_one_respect_is_outside(changes: Arguments, reason: str) -> None:
    assert of(ROWS).outside(like(**changes)).startswith(reason)


@given(st.integers(0, 12), st.integers(0, 80))
def test_no_size_beyond_those_that_were_tried_is_inside(rows: int, columns: int) -> None:
    call = like(x=torch.zeros(rows, columns), shape=[columns], weight=torch.zeros(columns))
    inside = of(ROWS).outside(call) == ""
    assert inside == (0 < columns <= 64 and rows > 0 and rows * columns <= 8 * 64)


def test_without_a_case_its_call_is_outside() -> None:
    assert [of([row for row in ROWS if row is not left]).outside(left) != "" for left in ROWS] == [True, True, True]


def test_a_case_that_failed_or_was_not_run_is_no_part_of_it() -> None:
    task = suites.find("quick/gelu")
    cases = [{"case": task.cases[0].name, "ok": True}, {"case": task.cases[1].name, "ok": False}]
    assert len(domain.tested(task, {"cases": cases, "timing": None})) == 1


def test_sizes_that_were_timed_are_a_part_of_it() -> None:
    task = suites.find("quick/gelu")
    calls = domain.tested(task, {"cases": [], "timing": {"sizes": [{"case": task.timing[-1].name}]}})
    assert domain.domain(calls)["tensors"]["input"]["elements"] == 33554432
