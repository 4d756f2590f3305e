"""`quotients`: either side of a whole number only where rounding of the quotient cannot tell."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.checkers.quotients import quotients
from benchmark.precision import cut
from benchmark.task import Check, Oracle


def check(x: torch.Tensor, y: torch.Tensor, actual: torch.Tensor, mode: str | None) -> Check:
    quotient = x.double() / y.double()
    truth = torch.div(x.double(), y.double(), rounding_mode=mode)
    return quotients()(Oracle((truth, quotient), (torch.div(x, y, rounding_mode=mode),)), (actual,), {"rounding_mode": mode})


def drawn(seed: int, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return (torch.randn(512, generator=rng) * 50).to(dtype), torch.randn(512, generator=rng).to(dtype)


@pytest.mark.parametrize("mode", ["floor", "trunc", None])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@given(seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_division_in_fp32_and_in_the_dtype_passes(dtype: torch.dtype, mode: str | None, seed: int) -> None:
    x, y = drawn(seed, dtype)
    wide = x.float() / y.float()
    rounded = {"floor": torch.floor, "trunc": torch.trunc, None: lambda q: q}[mode]
    assert check(x, y, rounded(wide).to(dtype), mode).ok
    assert check(x, y, torch.div(x, y, rounding_mode=mode), mode).ok


@given(seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_the_other_mode_and_the_next_lower_precision_fail(seed: int) -> None:
    x, y = drawn(seed, torch.float32)
    assert not check(x, y, torch.floor(x / y), "trunc").ok
    assert not check(x, y, torch.trunc(x / y), "floor").ok
    assert not check(x, y, torch.floor(cut(x) / cut(y)), "floor").ok


def test_a_whole_quotient_has_one_answer() -> None:
    x, y = torch.tensor([21.0, -9.0]), torch.tensor([7.0, 3.0])
    assert check(x, y, torch.tensor([3.0, -3.0]), "floor").ok
    assert not check(x, y, torch.tensor([2.0, -3.0]), "floor").ok
    assert not check(x, y, torch.tensor([3.0, -2.0]), "trunc").ok


def test_beside_a_whole_number_both_sides_pass() -> None:
    x, y = torch.tensor([3.0]), torch.tensor([1.0]).nextafter(torch.tensor([2.0]))
    assert check(x, y, torch.tensor([2.0]), "floor").ok
    assert check(x, y, torch.tensor([3.0]), "floor").ok
    assert not check(x, y, torch.tensor([1.0]), "floor").ok


def test_division_by_zero_is_infinite_or_undefined() -> None:
    x, y = torch.tensor([1.0, -1.0, 0.0]), torch.zeros(3)
    assert check(x, y, x / y, "trunc").ok
    assert not check(x, y, torch.zeros(3), "trunc").ok
