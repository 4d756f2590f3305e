import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.checkers.within import within
from benchmark.task import Oracle

VALUES = torch.linspace(1.0, 2.0, 101, dtype=torch.float64)


def oracle(dtype: torch.dtype) -> Oracle:
    return Oracle((VALUES,), (VALUES.to(dtype),))


@settings(deadline=None)
@given(st.sampled_from([1e-5, 1e-3, 0.1]), st.floats(0.0, 0.9))
def test_errors_below_the_tolerance_pass(tolerance: float, share: float) -> None:
    assert within(tolerance)(oracle(torch.float32), ((VALUES * (1 + share * tolerance)).float(),), {}).ok


@pytest.mark.parametrize("tolerance", [1e-5, 1e-3, 0.1])
def test_errors_beyond_the_tolerance_fail(tolerance: float) -> None:
    check = within(tolerance)(oracle(torch.float32), ((VALUES * (1 + 2 * tolerance)).float(),), {})
    assert check.kind == "wrong_numeric"


def test_rounding_to_the_results_own_dtype_is_free() -> None:
    assert within(1e-6)(oracle(torch.bfloat16), (VALUES.bfloat16(),), {}).ok


def test_whole_numbers_must_be_equal() -> None:
    whole = torch.arange(5)
    assert not within(0.1)(Oracle((whole,), (whole,)), (whole + 1,), {}).ok


@pytest.mark.parametrize("wrong", [torch.zeros_like, torch.ones_like])
def test_constants_fail(wrong: object) -> None:
    assert not within(0.3)(oracle(torch.float32), (wrong(VALUES.float()),), {}).ok  # type: ignore[operator]
