"""`quantised`: faithful int8 products pass whatever their last place, other schemes fail."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark import oracle, suites
from benchmark.task import Arguments, Check
from tests.benchmark.alternatives.quick import BY_TASK

TASK = suites.find("quick/matmul_w8a8")


def check(function: Callable[..., torch.Tensor], arguments: Arguments) -> Check:
    return TASK.contract.checker(oracle.compute(TASK, arguments), (function(**arguments),), arguments)


def operands(seed: int, rows: int, inner: int, columns: int, scale: float = 0.0) -> Arguments:
    generator = torch.Generator().manual_seed(seed)
    input, weight = torch.randn(rows, inner, generator=generator), torch.randn(inner, columns, generator=generator)
    return {"input": input * 10**scale, "weight": weight}


@pytest.mark.parametrize("faithful", BY_TASK["matmul_w8a8"])
@given(seed=st.integers(0, 2**32), rows=st.integers(1, 20), inner=st.integers(1, 90), columns=st.integers(1, 20), scale=st.floats(-4, 4))
@settings(max_examples=30, deadline=None)
def test_faithful_kernels_pass(faithful: Callable, seed: int, rows: int, inner: int, columns: int, scale: float) -> None:
    answer = check(faithful, operands(seed, rows, inner, columns, scale))
    assert answer.ok, answer.message


@pytest.mark.parametrize("faithful", BY_TASK["matmul_w8a8"])
def test_exact_halves_may_be_rounded_either_way(faithful: Callable) -> None:
    """The largest value is 127, so that scales are 1 and every k + 0.5 is a tie."""
    input = torch.tensor([[127.0, 0.5, 1.5, -2.5, 3.25]])
    assert check(faithful, {"input": input, "weight": operands(0, 1, 5, 3)["weight"]}).ok


@given(seed=st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_a_plain_product_fails(seed: int) -> None:
    assert check(lambda input, weight: input @ weight, operands(seed, 16, 64, 16)).kind == "wrong_numeric"


def quantise(tensor: torch.Tensor, axis: int, levels: float = 127, rounding: Callable = torch.round) -> tuple[torch.Tensor, torch.Tensor]:
    scale = tensor.abs().amax(axis, keepdim=True) / levels
    return scale, rounding(tensor / scale)


def product(left: tuple[torch.Tensor, torch.Tensor], right: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    return left[1] @ right[1] * left[0] * right[0]


UNFAITHFUL = {
    "truncated": lambda input, weight: product(quantise(input, 1, rounding=torch.trunc), quantise(weight, 0, rounding=torch.trunc)),
    "floored": lambda input, weight: product(quantise(input, 1, rounding=torch.floor), quantise(weight, 0)),
    "128 levels": lambda input, weight: product(quantise(input, 1, 128), quantise(weight, 0, 128)),
    "4 bits": lambda input, weight: product(quantise(input, 1, 7), quantise(weight, 0, 7)),
    "weight as it is": lambda input, weight: product(quantise(input, 1), (torch.ones(1), weight)),
    "scale of the other axis": lambda input, weight: product(quantise(input, 1), (s := weight.abs().amax() / 127, (weight / s).round())),
    "a scale forgotten": lambda input, weight: product(quantise(input, 1), quantise(weight, 0)) / quantise(weight, 0)[0],
}


@pytest.mark.parametrize("scheme", UNFAITHFUL)
def test_other_schemes_fail(scheme: str) -> None:
    for seed in range(5):
        assert check(UNFAITHFUL[scheme], operands(seed, 16, 64, 16)).kind == "wrong_numeric"


def test_one_wrong_step_of_one_element_fails() -> None:
    arguments = operands(1, 4, 32, 4)

    def slip(input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        left, right = quantise(input, 1), quantise(weight, 0)
        left[1][2, 5] += 1
        return product(left, right)

    answer = check(slip, arguments)
    assert answer.kind == "wrong_numeric"
    assert answer.matched == pytest.approx(0.75)


def test_zero_rows_and_columns_give_zeros_not_nan() -> None:
    arguments = operands(2, 3, 8, 3)
    arguments["input"][1] = 0
    assert check(lambda input, weight: product(quantise(input, 1), quantise(weight, 0)), arguments).kind == "nonfinite"
    assert check(BY_TASK["matmul_w8a8"][0], arguments).ok
