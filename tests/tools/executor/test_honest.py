"""Honest kernels pass, whatever they tempt a harness to refuse them for."""

import asyncio
from collections.abc import Callable
from itertools import combinations

import pytest

from benchmark.suites import find, load
from tests.tools.corpus import Candidate, honest, shape
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings

HONEST = honest()
CHEAP = ("quick/add", "quick/gelu", "quick/silu", "quick/fused_add_gelu")
SAMPLE = [c for n, c in enumerate(HONEST) if (c.task in CHEAP and n % 2) or c.name == f"honest/{c.task.partition('/')[2]}"]
"""One of each operator, and many of those that are soon done."""


def name(candidate: Candidate) -> str:
    return candidate.name.partition("/")[2]


def test_set_is_large_and_names_its_temptations() -> None:
    assert len(HONEST) >= 60
    assert all(c.temptation for c in HONEST), [c.name for c in HONEST if not c.temptation]
    assert len({c.temptation for c in HONEST}) >= 20


def test_every_quick_operator_has_several() -> None:
    tasks = [c.task for c in HONEST]
    assert {task.id: tasks.count(task.id) >= 4 for task in load("quick").tasks} == {task.id: True for task in load("quick").tasks}


def test_no_two_differ_only_in_names_or_constants() -> None:
    shapes = {c.name: shape(c.source) for c in HONEST}
    assert [(a, b) for a, b in combinations(shapes, 2) if shapes[a] == shapes[b]] == []


def check(found: Evaluation) -> None:
    assert (found.verdict, found.error) == ("pass", None)
    assert found.compiled
    assert found.correct
    assert all(case.ok for case in found.cases)
    assert found.launches


@pytest.mark.parametrize("candidate", SAMPLE, ids=name)
def test_honest_candidate_passes(evaluate: Callable[..., Evaluation], candidate: Candidate) -> None:
    check(evaluate(candidate.source, candidate.task))


@pytest.mark.slow
@pytest.mark.parametrize("candidate", [c for c in HONEST if c not in SAMPLE], ids=name)
def test_honest_candidate_of_the_long_set_passes(evaluate: Callable[..., Evaluation], candidate: Candidate) -> None:
    check(evaluate(candidate.source, candidate.task))


@pytest.mark.gpu
@pytest.mark.parametrize("candidate", HONEST, ids=name)
def test_honest_candidate_passes_and_is_timed_on_a_gpu(on_device: LocalExecutor, candidate: Candidate) -> None:
    found = asyncio.run(on_device.evaluate(candidate.source, find(candidate.task), Settings()))
    check(found)
    assert found.timing is not None, found.no_timing
    assert len(found.timing.sizes) == len(find(candidate.task).timing)
