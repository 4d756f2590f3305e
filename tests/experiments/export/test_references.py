"""References as modules that stand alone, and signatures as schemas of torch."""

import inspect

import pytest
import torch

from benchmark import suites
from benchmark.task import Task
from experiments.export import domain, references

TASKS = [task for suite in suites.names() for task in suites.load(suite).tasks]


def schema(task_id: str) -> references.Signature:
    task = suites.find(task_id)
    cases = [{"case": case.name, "ok": True} for case in task.cases if not case.device_only]
    return references.schema(task, domain.tested(task, {"cases": cases, "timing": None}))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_a_reference_runs_without_our_packages(task: Task) -> None:
    text = references.module(task)
    assert "benchmark" not in text.partition('"""\n')[2].replace(task.text, "")
    space: dict[str, object] = {}
    exec(text, space)
    assert str(inspect.signature(space[task.reference.__name__])) == str(inspect.signature(task.reference))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["quick/add", "quick/softmax", "kernelbench_x/fused_add_mul_groupnorm", "kernelbench_x/SGD"])
def test_it_computes_what_the_task_s_does(name: str) -> None:
    task = suites.find(name)
    space: dict[str, object] = {}
    exec(references.module(task), space)
    one, other = (task.cases[0].arguments(task.id, 0) for _ in range(2))
    torch.testing.assert_close(space[task.reference.__name__](**one), task.reference(**other), rtol=0, atol=0)  # type: ignore[operator]
    torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_a_schema_has_the_parameters_that_a_case_gives_and_what_is_written() -> None:
    assert schema("quick/softmax").schema == "(Tensor input, SymInt dim, ScalarType? dtype=None) -> Tensor"
    assert "Tensor(a" in str(schema("kernelbench_x/addmm").schema)


def test_a_union_goes_by_the_first_type_that_torch_has_and_by_a_condition() -> None:
    found = schema("quick/add")
    assert found.schema == "(Tensor input, Tensor other, Scalar alpha=1) -> Tensor"
    assert found.fits == ("out is None", "isinstance(other, Tensor)")


def test_what_torch_has_no_type_for_is_not_registered_and_says_why() -> None:
    assert schema("kernelbench_x/Adam").schema is None
    assert schema("kernelbench_x/Adam").why == "torch.library has no type for betas: tuple[float, float] = (0.9, 0.999)"
