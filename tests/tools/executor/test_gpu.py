"""The executor on a real device: `pytest -m gpu tests/tools/executor/test_gpu.py`."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark.suites import find, load
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings

pytestmark = pytest.mark.gpu
CANDIDATES = Path(__file__).parents[1] / "candidates"
OPERATORS = [task.name for task in load("quick").tasks]
LEVEL = os.environ.get("KERNELWRIGHT_TEST_SANDBOX", "auto")


@pytest.fixture(scope="module")
def device_executor() -> Iterator[LocalExecutor]:
    made = LocalExecutor(workers=1, gpus=(0,), sandbox=LEVEL)
    yield made
    asyncio.run(made.close())


def evaluated(executor: LocalExecutor, source: str, task: str, **settings: object) -> Evaluation:
    found = asyncio.run(executor.evaluate(source, find(task), Settings(**settings)))  # type: ignore[arg-type]
    print(task, found.verdict, found.stage, found.error, found.no_timing, found.isolation, found.resources, found.timing, found.logs)
    return found


def source(name: str) -> str:
    return (CANDIDATES / f"{name}.py").read_text()


def run(executor: LocalExecutor, name: str, task: str, **settings: object) -> Evaluation:
    return evaluated(executor, source(name), task, **settings)


@pytest.mark.parametrize("name", OPERATORS)
def test_honest_candidate_passes_and_is_timed(device_executor, name):
    found = run(device_executor, f"honest/{name}", f"quick/{name}")
    assert (found.verdict, found.mode) == ("pass", "device"), found.error
    assert found.timing is not None, found.no_timing
    assert found.timing.speedup > 0
    assert found.timing.claim_ok, found.timing.notes
    assert found.timing.warm_speedup is not None
    assert len(found.timing.sizes) == len(find(f"quick/{name}").timing)
    assert all(size.floor_us is not None and size.floor_us < 1.3 * size.candidate_us for size in found.timing.sizes)
    assert found.resources["gpu_s"] < 5.0


def test_state_of_the_gpu_is_in_the_record(device_executor):
    found = run(device_executor, "honest/add", "quick/add").timing
    assert found is not None
    assert len(found.clocks) == 1 + len(found.sizes)
    for sample in found.clocks:
        assert sample["missing"] == {}
        assert sample["sm_mhz"] > 0
        assert sample["memory_mhz"] > 0
        assert sample["power_w"] > 0
        assert sample["other_processes"] == []
    assert not any("no floor" in note for note in found.notes), found.notes
    assert found.self_ratio == pytest.approx(1.0, abs=0.1)


def test_compiled_reference_is_timed_beside_the_candidate(device_executor):
    found = run(device_executor, "honest/softmax", "quick/softmax", baselines=("eager", "compile")).timing
    assert found is not None
    assert [size.compile for size in found.sizes if not size.compile or "error" in size.compile] == []
    assert found.compile_speedup is not None
    assert found.compile_speedup > 0


def test_tuning_is_over_before_the_clock_starts_and_its_time_is_told(device_executor):
    found = run(device_executor, "honest/silu_autotune", "quick/silu")
    assert found.verdict == "pass"
    assert found.timing is not None
    assert found.timing.tuning_s is not None
    assert found.timing.tuning_s > 0
    assert found.timing.claim_ok


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


def test_right_at_first_and_wrong_later_is_found(device_executor):
    found = evaluated(device_executor, source("honest/softmax") + WRONG_LATER, "quick/softmax")
    assert (found.verdict, found.stage) == ("wrong_numeric", "timing")


def test_answers_that_are_remembered_by_value_are_found(device_executor):
    found = evaluated(device_executor, source("honest/matmul") + REMEMBERS, "quick/matmul")
    assert found.verdict != "pass" or found.timing is None or found.timing.speedup < 1.0


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("zeros", "wrong_numeric"),
        ("infinite_loop", "timeout"),
        ("early_exit", "crash"),
        ("torch_fallback", "not_triton"),
        ("dead_kernel", "not_triton"),
        ("cached_by_pointer", "wrong_numeric"),
        ("mutates_input", "input_mutated"),
        ("host_memory", "device_mismatch"),
        ("bad_kernel", "compile_error"),
        ("fake_pass", "suspected_hack"),
        ("imports_reference", "import_error"),
    ],
)
def test_hostile_candidate_gets_its_verdict(device_executor, name, verdict):
    assert run(device_executor, f"hostile/{name}", "quick/softmax", case_s=10.0).verdict == verdict


def test_good_candidate_passes_after_a_device_fault(device_executor):
    fault = """
import torch, triton, triton.language as tl
@triton.jit
def wild(y):
    tl.store(y + 1099511627776, 1.0)
def softmax(input, dim, dtype=None):
    y = torch.empty_like(input)
    wild[(1,)](y)
    return y
"""
    found = asyncio.run(device_executor.evaluate(fault, find("quick/softmax"), Settings(timing="off")))
    print(found.verdict, found.error)
    assert found.verdict in ("runtime_error", "launch_error", "crash")
    assert run(device_executor, "honest/softmax", "quick/softmax", timing="off").verdict == "pass"
