"""Kernels that are right but for one thing are refused, with the verdict and at the stage that their first lines say.

A file's docstring: a sentence that says what is wrong, `Task: kernelbench_x/mean.`, `Expected: wrong_numeric at correctness.`
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmark import suites
from tools.evaluation import NO_VERDICT, STAGES, VERDICTS, Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings

FOLDER = Path(__file__).parent / "near_misses"


@dataclass(frozen=True)
class NearMiss:
    name: str
    """As `reduce/mean_of_masked_lanes`."""
    source: str
    task: str
    verdict: str
    stage: str


def read(path: Path) -> NearMiss:
    source = path.read_text()
    docstring = source.split('"""')[1]
    task, expected = (re.search(rf"^{field}: (.+?)\.?$", docstring, re.MULTILINE) for field in ("Task", "Expected"))
    assert task, f"{path} names no task"
    assert expected, f"{path} expects nothing"
    verdict, _, stage = expected[1].partition(" at ")
    return NearMiss(f"{path.parent.name}/{path.stem}", source, task[1], verdict, stage)


MISSES = [read(path) for path in sorted(FOLDER.glob("*/*.py"))]
each = pytest.mark.parametrize("miss", MISSES, ids=lambda miss: miss.name)


def test_every_category_of_kernelbench_x_has_three() -> None:
    counts = Counter(miss.name.partition("/")[0] for miss in MISSES)
    categories = {task.category.lower() for task in suites.load("kernelbench_x").tasks}
    assert len(categories) == 15
    assert {category: counts[category] for category in categories if counts[category] < 3} == {}
    assert set(counts) <= categories


@each
def test_a_file_names_a_task_of_its_category_and_a_known_verdict(miss: NearMiss) -> None:
    assert suites.find(miss.task).category.lower() == miss.name.partition("/")[0]
    assert miss.verdict in set(VERDICTS) - NO_VERDICT - {"pass"}
    assert miss.stage in STAGES


@pytest.mark.sampled(6)
@each
def test_is_refused_on_the_simulated_device(evaluate: Callable[[str, str], Evaluation], miss: NearMiss) -> None:
    found = evaluate(miss.source, miss.task)
    assert (found.verdict, found.stage) == (miss.verdict, miss.stage), found.error


@pytest.mark.gpu
@each
def test_is_refused_on_a_gpu(on_device: LocalExecutor, miss: NearMiss) -> None:
    found = asyncio.run(on_device.evaluate(miss.source, suites.find(miss.task), Settings(timing="off", profile="off")))
    assert (found.verdict, found.stage) == (miss.verdict, miss.stage), found.error
