"""The honest set passes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.suites import load
from tools.evaluation import Evaluation

CANDIDATES = Path(__file__).parents[1] / "candidates"
HONEST = sorted(p.stem for p in (CANDIDATES / "honest").glob("*.py"))


def candidate(name: str) -> str:
    return (CANDIDATES / f"{name}.py").read_text()


def test_every_quick_task_has_an_honest_candidate() -> None:
    assert {task.name for task in load("quick").tasks} <= set(HONEST)


@pytest.mark.parametrize("name", HONEST)
def test_honest_candidate_passes(evaluate: Callable[..., Evaluation], name: str) -> None:
    found = evaluate(candidate(f"honest/{name}"), f"quick/{name}")
    assert (found.verdict, found.error) == ("pass", None)
    assert found.compiled
    assert found.correct
    assert all(case.ok for case in found.cases)
