"""No hostile candidate passes: each gets the verdict, at the stage, that its file names."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from benchmark.suites import find
from tests.tools.corpus import CANDIDATES, Candidate, as_wanted, hostile
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings

HOSTILE = hostile()
FAST = Settings(device="simulated", import_s=2.0, case_s=2.0, targets=("cuda:80",), profile="off")
PATIENT = replace(FAST, import_s=10.0, case_s=10.0)
"""For those that are refused for something else, however busy the host is."""
ON_GPU = Settings(import_s=10.0, case_s=10.0)
SLOW = frozenset(
    {
        "borrowed_kernel",
        "failed_launch",
        "global_flags",
        "half_operands",
        "library_matmul",
        "memory_bomb",
        "quantised_once",
        "recorded_launch",
    }
)
"""Compiled or run for seconds; the others are sampled."""


def source(name: str) -> str:
    return (CANDIDATES / f"{name}.py").read_text()


def every_third() -> Iterator[Any]:
    """All that show something on the simulated device; two of three are marked slow."""
    for number, candidate in enumerate(HOSTILE):
        slow = number % 3 or candidate.name.partition("/")[2] in SLOW or "timeout" in candidate.expected.verdicts
        marks: list[pytest.MarkDecorator] = [pytest.mark.slow] if slow else []
        if candidate.needs == "GPU":
            marks = [pytest.mark.skip(reason="shows nothing without a GPU")]
        yield pytest.param(candidate, id=candidate.name, marks=marks)


@pytest.mark.parametrize("candidate", list(every_third()))
def test_hostile_candidate_gets_the_verdict_that_its_file_names(evaluate: Callable[..., Evaluation], candidate: Candidate) -> None:
    found = evaluate(candidate.source, candidate.task, FAST if "timeout" in candidate.expected.verdicts else PATIENT)
    assert found.verdict != "pass"
    assert as_wanted(candidate.expected, found), f"{found.verdict} at {found.stage}, not {candidate.expected}: {found.error}"
    json.dumps(found.to_dict(), allow_nan=False)


def test_torch_fallback_is_correct_and_no_success(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate(source("hostile/torch_fallback"))
    assert found.correct
    assert not found.success


@pytest.mark.parametrize("harm", ["segfault", "poisons_cache", "wild_pointer", "edits_the_grader"])
def test_good_candidate_passes_after_harm(evaluate: Callable[..., Evaluation], harm: str) -> None:
    verdicts = [evaluate(source(name), settings=FAST).success for name in (f"hostile/{harm}", "honest/softmax") * 2]
    assert verdicts == [False, True] * 2


@pytest.mark.gpu
@pytest.mark.parametrize("candidate", [c for c in HOSTILE if c.needs != "simulated device"], ids=lambda c: c.name)
def test_hostile_candidate_gets_its_verdict_on_a_gpu(on_device: LocalExecutor, candidate: Candidate) -> None:
    found = asyncio.run(on_device.evaluate(candidate.source, find(candidate.task), ON_GPU))
    assert as_wanted(candidate.on_gpu, found), f"{found.verdict} at {found.stage}, not {candidate.on_gpu}: {found.error}"
