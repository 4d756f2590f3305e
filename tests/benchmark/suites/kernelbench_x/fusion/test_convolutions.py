"""Convolutions of Fusion: a result in TF32 is refused, and so is one without the bias."""

from typing import Any

import pytest

from benchmark import oracle
from benchmark.precision import cut
from benchmark.probes import Trial
from benchmark.suites.kernelbench_x.fusion import convolutions, normed_convolutions
from benchmark.task import Task

TASKS = [task for task in (*convolutions.TASKS, *normed_convolutions.TASKS) if not task.contract.random]
any_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


def in_tf32(arguments: dict[str, Any]) -> dict[str, Any]:
    """Image and filters as matrix units take them; all else, and the sums, in fp32."""
    names = {"x", "conv_weight"} if "conv_weight" in arguments else {"input", "weight"}
    return {name: cut(value) if name in names else value for name, value in arguments.items()}


@any_task
def test_products_in_tf32_are_refused(task: Task) -> None:
    trial = Trial(task, next(case for case in task.cases if case.name == "fp32"), 0)
    arguments = in_tf32(oracle.copied(trial.arguments))
    outputs = oracle.outputs(task, task.reference(**arguments), arguments)
    check = trial.check(outputs)
    assert check.kind == "wrong_numeric"


@any_task
def test_a_bias_that_is_left_out_is_refused(task: Task) -> None:
    name = "conv_bias" if "conv_weight" in task.cases[0].arguments(task.id, 0, "meta") else "bias"
    trial = Trial(task, next(case for case in task.cases if case.name == "fp32"), 0)
    arguments = {key: value for key, value in oracle.copied(trial.arguments).items() if key != name}
    assert not trial.check(oracle.outputs(task, task.reference(**arguments), arguments)).ok
