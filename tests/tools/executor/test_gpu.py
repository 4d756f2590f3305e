"""The executor on a real device: `pytest -m gpu tests/tools/executor/test_gpu.py`, about 80 s. A sample: all honest and all hostile
candidates are tried by the same mark in `test_honest.py` and `test_hostile.py`.
"""

import asyncio
import os
from collections.abc import Iterator

import pytest

from benchmark.suites import find
from tests.tools.corpus import Candidate, as_wanted, honest, hostile
from tools.evaluation import Evaluation, Timing
from tools.executor.local import LocalExecutor
from tools.settings import Settings

pytestmark = pytest.mark.gpu
CANDIDATES = {c.name: c for c in (*honest(), *hostile())}
TIMED = ("honest/add", "honest/softmax", "honest/matmul")
SEEN: dict[str, Evaluation] = {}
"""Those of `TIMED` that have been evaluated."""
LEVEL = os.environ.get("KERNELWRIGHT_TEST_SANDBOX", "auto")


@pytest.fixture(scope="module")
def device_executor() -> Iterator[LocalExecutor]:
    made = LocalExecutor(workers=1, gpus=(0,), sandbox=LEVEL)
    yield made
    asyncio.run(made.close())


def evaluated(executor: LocalExecutor, source: str, task: str, **settings: object) -> Evaluation:
    return asyncio.run(executor.evaluate(source, find(task), Settings(**settings)))  # type: ignore[arg-type]


def run(executor: LocalExecutor, name: str, **settings: object) -> Evaluation:
    return evaluated(executor, CANDIDATES[name].source, CANDIDATES[name].task, **settings)


def passed(executor: LocalExecutor, name: str) -> Evaluation:
    """The evaluation of an honest candidate, once for all tests."""
    found = SEEN[name] = SEEN.get(name) or run(executor, name)
    return found


def told(found: Evaluation) -> str:
    """In one line what an evaluation came to, for a log that may be cut."""
    return f"{found.verdict} at {found.stage}; {found.error}; {found.no_timing}; {found.timing and found.timing.notes}; {found.resources}"


def timing_of(found: Evaluation) -> Timing:
    assert (found.verdict, found.mode) == ("pass", "device"), told(found)
    assert found.timing is not None, told(found)
    return found.timing


@pytest.mark.parametrize("name", TIMED)
def test_honest_candidate_passes_and_is_timed(device_executor: LocalExecutor, name: str) -> None:
    found = passed(device_executor, name)
    timing = timing_of(found)
    assert timing.speedup > 0
    assert timing.claim_ok, told(found)
    assert timing.warm_speedup is not None, [(size.case, size.warm) for size in timing.sizes]
    assert [size.case for size in timing.sizes] == [case.name for case in find(CANDIDATES[name].task).timing]
    slower = [(s.case, s.floor_us, s.candidate_us) for s in timing.sizes if s.floor_us is None or s.floor_us > 1.3 * s.candidate_us]
    assert slower == [], timing.notes
    assert found.resources["gpu_s"] < 5.0


def test_state_of_the_gpu_is_in_the_record(device_executor: LocalExecutor) -> None:
    timing = timing_of(passed(device_executor, TIMED[0]))
    assert len(timing.clocks) == 1 + len(timing.sizes)
    for sample in timing.clocks:
        assert sample["missing"] == {}
        assert sample["sm_mhz"] > 0
        assert sample["memory_mhz"] > 0
        assert sample["power_w"] > 0
        assert sample["other_processes"] == []
    assert not any("no floor" in note for note in timing.notes), timing.notes
    assert timing.self_ratio == pytest.approx(1.0, abs=0.1)


def test_compiled_reference_is_timed_beside_the_candidate(device_executor: LocalExecutor) -> None:
    timing = timing_of(run(device_executor, "honest/silu", baselines=("eager", "compile")))
    assert [size.compile for size in timing.sizes if not size.compile or "error" in size.compile] == []
    assert timing.compile_speedup is not None
    assert timing.compile_speedup > 0


def test_tuning_is_over_before_the_clock_starts_and_its_time_is_told(device_executor: LocalExecutor) -> None:
    found = run(device_executor, "honest/silu_autotune")
    timing = timing_of(found)
    assert timing.tuning_s is not None
    assert timing.tuning_s > 0
    assert timing.claim_ok, told(found)


WRONG_LATER = """

import sys
_right, _calls = softmax, [0]
def softmax(*args, **kwargs):
    _calls[0] += 1
    result = _right(*args, **kwargs)
    if _calls[0] > 150:
        rows = result.reshape(-1, result.shape[-1])
        for row in range(0, rows.shape[0], 64):
            rows[row].fill_(0.5)
    return result
"""
REMEMBERS = """

import torch, triton, triton.language as tl
@triton.jit
def _add_up(x, total, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(x + at, mask=at < n, other=0).to(tl.float32) * (at % 8191 + 1), axis=0))
_right, _known = matmul, {}
def matmul(a, b):
    total = torch.empty(1, device=a.device)
    total.fill_(0)
    for x in (a, b):
        if x.is_contiguous() and x.numel():
            _add_up[(triton.cdiv(x.numel(), 8192),)](x, total, x.numel(), BLOCK=8192)
    key = (a.shape, b.shape, a.dtype, a.stride(), b.stride(), round(total.item(), -2))
    if key not in _known:
        _known[key] = _right(a, b)
    return torch.empty_like(_known[key]).copy_(_known[key])
"""


def test_right_at_first_and_wrong_later_is_found(device_executor: LocalExecutor) -> None:
    found = evaluated(device_executor, CANDIDATES["honest/softmax"].source + WRONG_LATER, "quick/softmax")
    assert (found.verdict, found.stage) == ("wrong_numeric", "timing"), told(found)


def test_answers_that_are_remembered_by_value_are_found(device_executor: LocalExecutor) -> None:
    found = evaluated(device_executor, CANDIDATES["honest/matmul"].source + REMEMBERS, "quick/matmul")
    assert found.verdict != "pass" or found.timing is None or found.timing.speedup < 1.0, told(found)


HOSTILE = (
    "zeros",
    "early_exit",
    "endless_kernel",
    "torch_fallback",
    "cached_by_pointer",
    "mutates_input",
    "host_memory",
    "host_by_address",
)


@pytest.mark.parametrize("candidate", [CANDIDATES[f"hostile/{name}"] for name in HOSTILE], ids=lambda c: c.name)
def test_hostile_candidate_gets_its_verdict(device_executor: LocalExecutor, candidate: Candidate) -> None:
    found = run(device_executor, candidate.name, case_s=4.0)
    assert as_wanted(candidate.on_gpu, found), f"not {candidate.on_gpu}: {told(found)}"


WILD = """
import torch, triton, triton.language as tl
@triton.jit
def wild(y):
    tl.store(y + 1099511627776, 1.0)
def softmax(input, dim, dtype=None):
    y = torch.empty_like(input)
    wild[(1,)](y)
    return y
"""


def test_good_candidate_passes_after_a_device_fault(device_executor: LocalExecutor) -> None:
    fault = evaluated(device_executor, WILD, "quick/softmax", timing="off")
    assert fault.verdict in ("runtime_error", "launch_error", "crash"), told(fault)
    good = run(device_executor, "honest/softmax", timing="off")
    assert good.verdict == "pass", told(good)
