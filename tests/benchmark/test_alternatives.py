"""Answers found by another way than the reference's pass in the task's dtype; the dispatch record shows that it is another way."""

from functools import cache

import pytest
import torch

from benchmark import kernels, oracle, suites
from benchmark.probes import Trial
from benchmark.task import Task
from tests.benchmark.alternatives import Alternative, Record, load

ALTERNATIVES = load()
each = pytest.mark.parametrize("task_id", sorted(ALTERNATIVES))


@cache
def task(task_id: str) -> Task:
    return suites.find(task_id)


def outputs(trial: Trial, alternative: Alternative) -> tuple[torch.Tensor, ...]:
    arguments = oracle.copied(trial.arguments)
    return oracle.outputs(trial.task, oracle.call(alternative.function, arguments), arguments)


@pytest.mark.sampled(30)
@each
def test_another_way_passes_every_case(task_id: str) -> None:
    alternative, ran, avoided = ALTERNATIVES[task_id], set(), set()
    for case in [case for case in task(task_id).cases if not case.device_only]:
        for seed in (0, 1):
            trial = Trial(task(task_id), case, seed)
            with Record() as record:
                found = outputs(trial, alternative)
            check = trial.check(found)
            assert check.ok, (case.name, seed, check.message)
            ran |= record.ran
        with Record() as usual:
            oracle.call(task(task_id).reference, oracle.copied(trial.arguments))
        avoided |= usual.ran
    assert not ran & set(alternative.without)
    assert set(alternative.without) <= avoided, f"the reference itself runs none of it; it runs {sorted(avoided)}"


def test_every_task_without_a_kernel_of_ours_has_another_way() -> None:
    has_one = {*kernels.sources(), *ALTERNATIVES}
    assert [task.id for task in suites.load("kernelbench_x").tasks if task.id not in has_one] == []
