"""The executor on a real device: `pytest -m gpu tests/tools/executor/test_executor_gpu.py`."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark.suites import find
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings

pytestmark = pytest.mark.gpu
CANDIDATES = Path(__file__).parents[1] / "candidates"
HONEST = sorted(p.stem for p in (CANDIDATES / "honest").glob("*.py"))
LEVEL = os.environ.get("KERNELWRIGHT_TEST_SANDBOX", "auto")


@pytest.fixture(scope="module")
def device_executor() -> Iterator[LocalExecutor]:
    made = LocalExecutor(workers=1, gpus=(0,), sandbox=LEVEL)
    yield made
    asyncio.run(made.close())


def run(executor: LocalExecutor, name: str, task: str, **settings: object) -> Evaluation:
    source = (CANDIDATES / f"{name}.py").read_text()
    found = asyncio.run(executor.evaluate(source, find(task), Settings(**settings)))  # type: ignore[arg-type]
    print(name, found.verdict, found.stage, found.error, found.isolation, found.resources, found.timing, found.logs)
    return found


@pytest.mark.parametrize("name", HONEST)
def test_honest_candidate_passes_and_is_timed(device_executor, name):
    found = run(device_executor, f"honest/{name}", f"quick/{name}")
    assert (found.verdict, found.mode) == ("pass", "device"), found.error
    assert found.timing is not None
    assert found.timing.speedup > 0
    assert found.timing.claim_ok
    assert len(found.timing.sizes) == len(find(f"quick/{name}").timing)


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
