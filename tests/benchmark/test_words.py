import pytest

from benchmark import suites, words
from benchmark.task import Task

any_task = pytest.mark.parametrize("task", suites.load("quick").tasks, ids=lambda task: task.name)


@any_task
def test_held_out_cases_never_appear(task: Task) -> None:
    text = words.describe(task)["cases"]
    named = {line.removeprefix("- ").partition(":")[0] for line in text.splitlines()}
    assert named == {case.name for case in (*task.cases, *task.timing) if not case.held_out} | {"Timed"}
    shapes = [words.arguments(task, case) for case in task.cases if case.held_out]
    assert not any(shape in text for shape in shapes)


@any_task
def test_all_parts_are_there_and_the_same_each_time(task: Task) -> None:
    parts = words.describe(task)
    assert list(parts) == ["signature", "semantics", "reference", "contract", "cases"]
    assert all(parts.values())
    assert words.describe(task) == parts


def test_cases_give_shapes_dtypes_values_and_unusual_strides() -> None:
    lines = words.describe(suites.find("quick/softmax"))["cases"].splitlines()
    assert "- wider: input float16 (11, 257), dim=-1, dtype=torch.float32" in lines
    assert "- transposed: input float32 (17, 61) with strides (1, 17), dim=-1" in lines


def test_the_contract_names_scheme_and_accumulation() -> None:
    text = words.describe(suites.find("quick/matmul_w8a8"))
    assert "accumulated in int32" in text["contract"]
    assert "round_half_to_even" in text["semantics"]
    assert "def _quantised" in text["reference"]
