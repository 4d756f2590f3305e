"""Kernels of ours pass: the contracts can be met by an honest kernel, and examples shown to models are right."""

import asyncio
from collections.abc import Callable

import pytest

from benchmark import kernels, suites
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings

KERNELS = kernels.sources()
each = pytest.mark.parametrize("task_id", KERNELS)


def test_at_least_40_over_all_15_categories_of_kernelbench_x() -> None:
    own = {task.name: task.category for task in suites.load("kernelbench_x").tasks if task.id in KERNELS}
    assert len(own) >= 40
    assert len(set(own.values())) == 15
    quantised = [task.id for task in suites.load("kernelbench_x").tasks if task.category == "Quantization"]
    assert [task_id for task_id in quantised if task_id not in KERNELS] == []


@pytest.mark.sampled(6)
@each
def test_kernel_passes_on_the_simulated_device(evaluate: Callable[[str, str], Evaluation], task_id: str) -> None:
    found = evaluate(KERNELS[task_id], task_id)
    assert found.verdict == "pass", found.error
    assert found.launches


@pytest.mark.gpu
@each
def test_kernel_passes_and_is_timed_on_a_gpu(on_device: LocalExecutor, task_id: str) -> None:
    found = asyncio.run(on_device.evaluate(KERNELS[task_id], suites.find(task_id), Settings()))
    assert found.verdict == "pass", found.error
    assert found.timing is not None, found.no_timing
    assert len(found.timing.sizes) == len(suites.find(task_id).timing)
