"""The honest set passes, the hostile set does not, each with the verdict that its file names."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.suites import load
from tools.evaluation import Evaluation
from tools.settings import Settings

CANDIDATES = Path(__file__).parents[1] / "candidates"
HONEST = sorted(p.stem for p in (CANDIDATES / "honest").glob("*.py"))
HOSTILE = sorted(p.stem for p in (CANDIDATES / "hostile").glob("*.py"))
FAST = Settings(device="simulated", import_s=2.0, case_s=2.0)


def candidate(name: str) -> str:
    return (CANDIDATES / f"{name}.py").read_text()


def expected(source: str) -> str:
    found = re.search(r"Expected: (\w+)", source)
    assert found
    return found[1]


def test_every_quick_task_has_an_honest_candidate() -> None:
    assert {task.name for task in load("quick").tasks} <= set(HONEST)


@pytest.mark.parametrize("name", HONEST)
def test_honest_candidate_passes(evaluate: Callable[..., Evaluation], name: str) -> None:
    found = evaluate(candidate(f"honest/{name}"), f"quick/{name}")
    assert (found.verdict, found.error) == ("pass", None)
    assert found.compiled
    assert found.correct
    assert all(case.ok for case in found.cases)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_candidate_gets_the_verdict_that_its_file_names(evaluate: Callable[..., Evaluation], name: str) -> None:
    source = candidate(f"hostile/{name}")
    found = evaluate(source, settings=FAST)
    assert found.verdict == expected(source), found.error
    assert found.verdict != "pass"
    json.dumps(found.to_dict(), allow_nan=False)


def test_torch_fallback_is_correct_and_no_success(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate(candidate("hostile/torch_fallback"))
    assert found.correct
    assert not found.success


def test_good_candidate_passes_after_a_crash(evaluate: Callable[..., Evaluation]) -> None:
    verdicts = [evaluate(candidate(name), settings=FAST).verdict for name in ("hostile/segfault", "honest/softmax") * 2]
    assert verdicts == ["crash", "pass"] * 2
