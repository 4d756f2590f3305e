from collections.abc import Callable
from typing import Any

import pytest
import torch

from benchmark import oracle
from benchmark.checkers import close
from benchmark.task import Contract, Task


def task(reference: Callable[..., Any], mutates: tuple[str, ...] = (), **options: Any) -> Task:
    return Task("t/op", "c", "s", reference, (), (), Contract(close(), mutates=mutates), **options)


def add_(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x.add_(y)


def test_the_truth_is_fp64_and_the_honest_result_has_the_inputs_dtype() -> None:
    truth = oracle.compute(task(torch.exp), {"input": torch.ones(3, dtype=torch.float16)})
    assert (truth.expected[0].dtype, truth.honest[0].dtype) == (torch.float64, torch.float16)
    assert truth.expected[0][0] == torch.exp(torch.tensor(1.0, dtype=torch.float64))


def test_integers_and_booleans_are_not_converted() -> None:
    arguments = {"a": torch.tensor([1]), "b": torch.tensor([True]), "c": torch.ones(1), "d": 2.5}
    wide = oracle.upcast(arguments)
    assert [wide[name].dtype for name in "abc"] == [torch.int64, torch.bool, torch.float64]
    assert wide["d"] == 2.5


def test_dtype_arguments_are_raised_too() -> None:
    truth = oracle.compute(task(torch.softmax), {"input": torch.ones(3, dtype=torch.float16), "dim": 0, "dtype": torch.float32})
    assert (truth.expected[0].dtype, truth.honest[0].dtype) == (torch.float64, torch.float32)


def test_lists_of_tensors_are_converted() -> None:
    assert [t.dtype for t in oracle.upcast([torch.ones(1), torch.ones(1, dtype=torch.bfloat16)])] == [torch.float64] * 2


def test_a_written_argument_is_the_output_and_the_given_one_is_left_alone() -> None:
    arguments = {"x": torch.zeros(2), "y": torch.ones(2)}
    truth = oracle.compute(task(add_, ("x",)), arguments)
    assert [t.tolist() for t in truth.expected] == [[1, 1]]
    assert arguments["x"].tolist() == [0, 0]


@pytest.mark.parametrize("result", ["itself", "nothing"])
def test_an_in_place_operator_may_return_its_argument_or_nothing(result: str) -> None:
    arguments = {"x": torch.zeros(2), "y": torch.ones(2)}
    returned = arguments["x"] if result == "itself" else None
    assert oracle.outputs(task(add_, ("x",)), returned, arguments) == (arguments["x"],)


def test_returned_structures_are_flattened_in_order() -> None:
    a, b, c = (torch.tensor(float(k)) for k in range(3))
    assert [float(t) for t in oracle.outputs(task(add_), (a, [b, None], {"k": c}), {})] == [0, 1, 2]


@pytest.mark.parametrize("result", [1.0, "x", (torch.ones(1), 3)])
def test_what_is_no_tensor_is_a_type_error(result: Any) -> None:
    with pytest.raises(TypeError, match="where a tensor is expected"):
        oracle.outputs(task(add_), result, {})


def test_the_honest_computation_and_the_terms_may_be_the_tasks_own() -> None:
    made = task(torch.sum, honest=lambda input: input.sum() + 1, magnitude=lambda input: input.abs().sum())
    truth = oracle.compute(made, {"input": torch.tensor([1.0, -1.0])})
    assert (float(truth.expected[0]), float(truth.honest[0]), float(truth.magnitude[0])) == (0, 1, 2)


@pytest.mark.parametrize(("reference", "several"), [(lambda x: x, False), (lambda x: (x,), True), (lambda x: [x, x], True)])
def test_a_list_of_one_is_told_from_a_tensor(reference: Callable[..., Any], several: bool) -> None:
    assert oracle.compute(task(reference), {"x": torch.ones(2)}).several is several


@pytest.mark.parametrize("tf32", [True, False])
def test_tf32_counts_as_fp32_only_where_the_contract_says_so(tf32: bool) -> None:
    oracle.compute(Task("t/op", "c", "s", torch.exp, (), (), Contract(close(), tf32=tf32)), {"input": torch.ones(3)})
    assert torch.backends.cudnn.allow_tf32 is tf32
    assert torch.get_float32_matmul_precision() == ("high" if tf32 else "highest")


def test_arguments_for_a_starred_parameter_are_given_one_by_one() -> None:
    def function(*size: int, scale: int = 1) -> list[int]:
        return [scale * part for part in size]

    assert oracle.call(function, {"size": (2, 3), "scale": 10}) == [20, 30]
    assert oracle.call(lambda size, scale=1: (size, scale), {"size": (2, 3)}) == ((2, 3), 1)
