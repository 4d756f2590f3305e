"""`close`: accepts honest rounding, refuses every trap that a naive comparison falls into."""

import math
from dataclasses import asdict
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.checkers import close, pieces
from benchmark.precision import cut, eps
from benchmark.task import Check, Oracle

FLOATS = [torch.float32, torch.float16, torch.bfloat16]
NAN, INF = float("nan"), float("inf")


def check(expected: Any, actual: Any, dtype: torch.dtype = torch.float32, rule: Any = None, magnitude: Any = None) -> Check:
    """`expected` is the truth in fp64; the honest result is its rounding."""
    truth = torch.as_tensor(expected, dtype=torch.float64)
    actual = actual if isinstance(actual, torch.Tensor) else torch.tensor(actual, dtype=dtype)
    return (rule or close())(Oracle((truth,), (truth.to(dtype),), () if magnitude is None else (magnitude,)), (actual,), {"dim": 0})


def gauss(seed: int, *shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("dtype", FLOATS)
@given(seed=st.integers(0, 2**32), scale=st.floats(-3, 3), rows=st.integers(1, 9), columns=st.integers(8, 40))
@settings(max_examples=30, deadline=None)
def test_rounding_to_the_dtype_passes(dtype: torch.dtype, seed: int, scale: float, rows: int, columns: int) -> None:
    truth = gauss(seed, rows, columns) * 10**scale
    assert check(truth, truth.to(dtype), dtype).ok


@pytest.mark.parametrize("dtype", FLOATS)
@given(seed=st.integers(0, 2**32), scale=st.floats(-3, 3))
@settings(max_examples=30, deadline=None)
def test_the_next_lower_precision_fails(dtype: torch.dtype, seed: int, scale: float) -> None:
    """Of 256 numbers some are rounded by more than is allowed, even where only the result is cut."""
    truth = gauss(seed, 16, 16) * 10**scale
    assert check(truth, cut(truth.to(dtype)), dtype).kind == "wrong_numeric"


@pytest.mark.parametrize("dtype", FLOATS)
@given(seed=st.integers(0, 2**32), magnitude=st.floats(-6, 4))
@settings(max_examples=30, deadline=None)
def test_zeros_ones_and_the_mean_fail_at_any_magnitude(dtype: torch.dtype, seed: int, magnitude: float) -> None:
    truth = gauss(seed, 64).to(dtype).double() * 2.0 ** round(magnitude)
    for constant in (0.0, 1.0, float(truth.mean())):
        assert not check(truth, torch.full((64,), constant, dtype=dtype), dtype).ok


@given(seed=st.integers(0, 2**32), terms=st.integers(2, 600))
@settings(max_examples=30, deadline=None)
def test_any_order_of_a_sum_passes_given_the_absolute_terms(seed: int, terms: int) -> None:
    values = gauss(seed, 8, terms).float()
    backwards = torch.zeros(8)
    for column in reversed(range(terms)):
        backwards = backwards + values[:, column]
    assert check(values.double().sum(1), backwards, magnitude=values.double().abs().sum(1)).ok


def test_nan_where_a_number_is_expected_fails_though_no_error_exceeds_the_tolerance() -> None:
    answer = check([1.0, 2.0], [1.0, NAN])
    assert (answer.ok, answer.kind, answer.worst_index, answer.matched) == (False, "nonfinite", (1,), 0.5)


@pytest.mark.parametrize("wrong", [INF, -INF])
def test_infinity_where_a_number_is_expected_fails(wrong: float) -> None:
    assert check([1.0, 2.0], [wrong, 2.0]).kind == "nonfinite"


def test_nan_and_infinities_pass_where_they_are_expected() -> None:
    assert check([NAN, INF, -INF, 1.0], [NAN, INF, -INF, 1.0]).ok


@pytest.mark.parametrize("actual", [[0.0, 1.0], [-INF, 1.0], [NAN, 1.0], [3.4e38, 1.0]])
def test_another_value_where_infinity_is_expected_fails(actual: list[float]) -> None:
    assert not check([INF, 1.0], actual).ok


def test_a_number_where_nan_is_expected_fails() -> None:
    assert check([NAN, 1.0], [0.0, 1.0]).kind == "wrong_numeric"


def test_what_overflows_in_the_dtype_is_expected_as_infinity() -> None:
    assert check([1e6, 1.0], [INF, 1.0], torch.float16).ok
    assert not check([1e6, 1.0], [65504.0, 1.0], torch.float16).ok


@pytest.mark.parametrize("shape", [(4,), (4, 1), (1, 4), (1, 4, 4), (16,), ()])
def test_shapes_that_would_broadcast_fail(shape: tuple[int, ...]) -> None:
    answer = check(torch.ones(4, 4), torch.ones(shape))
    assert (answer.ok, answer.kind) == (False, "wrong_shape")


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.bool])
def test_equal_values_in_another_dtype_fail(dtype: torch.dtype) -> None:
    assert check([1.0, 0.0], torch.tensor([1, 0]).to(dtype)).kind == "wrong_dtype"


@pytest.mark.parametrize("value", [1.0, [1.0], None, "1.0"])
def test_what_is_no_tensor_fails(value: Any) -> None:
    truth = torch.ones(1, dtype=torch.float64)
    assert close()(Oracle((truth,), (truth.float(),)), (value,), {}).kind == "wrong_dtype"


def test_too_few_and_too_many_outputs_fail() -> None:
    one = torch.ones(2, dtype=torch.float64)
    oracle = Oracle((one, one), (one.float(), one.float()))
    for actual in ((), (one.float(),), (one.float(),) * 3):
        assert close()(oracle, actual, {}).kind == "wrong_shape"


def test_the_first_wrong_output_is_named() -> None:
    one = torch.ones(2, dtype=torch.float64)
    answer = close()(Oracle((one, one), (one.float(), one.float())), (one.float(), 2 * one.float()), {})
    assert answer.message.startswith("output 1: ")


def test_small_values_beside_a_large_one_are_not_waved_through_by_an_absolute_tolerance() -> None:
    """A softmax over many columns: all values below 1e-5, where allclose's default accepts zeros."""
    truth = torch.softmax(gauss(0, 2, 200_000), -1)
    assert float(truth.max()) < 1e-3
    assert not check(truth, torch.zeros(2, 200_000), rule=close(-1)).ok


def test_rows_are_judged_by_their_own_scale() -> None:
    truth = torch.stack([gauss(1, 64) * 1e6, gauss(2, 64)])
    wrong = truth.float().clone()
    wrong[1] += 0.5
    assert check(truth, wrong, rule=close()).ok
    assert not check(truth, wrong, rule=close(-1)).ok


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_relative_budget_judges_each_element_by_its_own_size(dtype: torch.dtype) -> None:
    truth = (torch.arange(-20, 11, dtype=torch.float64) / 2).exp2().to(dtype).double()
    wrong = truth.to(dtype)
    wrong[13:15] *= 0.75
    assert check(truth, wrong, dtype).ok == (dtype == torch.bfloat16)
    assert check(truth, wrong, dtype, close(relative=True)).kind == "wrong_numeric"
    assert check(truth, truth.to(dtype), dtype, close(relative=True)).ok
    assert not check(truth, cut((truth * 1.1).to(dtype)), dtype, close(relative=True)).ok


def test_a_relative_budget_lets_what_is_below_the_normal_numbers_be_flushed() -> None:
    truth = torch.tensor([1e-39, 0.0, 1.0, 1e-37], dtype=torch.float64)
    assert check(truth, [0.0, 0.0, 1.0, 1e-37], rule=close(relative=True)).ok
    assert not check(truth, [0.0, 1e-36, 1.0, 1e-37], rule=close(relative=True)).ok
    assert not check(truth, [0.0, 0.0, 1.0, 0.0], rule=close(relative=True)).ok


def test_the_axis_may_be_an_argument() -> None:
    truth = torch.stack([gauss(1, 64) * 1e6, gauss(2, 64)], 1)
    wrong = truth.float().clone()
    wrong[:, 1] += 0.5
    assert not check(truth, wrong, rule=close("dim")).ok


def test_the_budget_follows_the_honest_computation_up_to_the_ceiling() -> None:
    truth = torch.ones(100, dtype=torch.float64)
    for units, allowed in ((100, 1500), (10_000_000, 3000)):
        honest = (truth * (1 + units * eps(torch.float32))).float()
        near, far = ((truth * (1 + k * eps(torch.float32))).float() for k in (allowed, 3200))
        assert close()(Oracle((truth,), (honest,)), (near,), {}).ok
        assert not close()(Oracle((truth,), (honest,)), (far,), {}).ok or units == 100


def test_integers_must_be_equal() -> None:
    truth = torch.tensor([1, 2, 3])
    assert close()(Oracle((truth,), (truth,)), (truth.clone(),), {}).ok
    answer = close()(Oracle((truth,), (truth,)), (torch.tensor([1, 2, 4]),), {})
    assert (answer.kind, answer.first_index) == ("wrong_numeric", (2,))


@pytest.mark.parametrize("shape", [(0,), (0, 5), (3, 0)])
@pytest.mark.parametrize("axis", [None, -1])
def test_empty_results_pass(shape: tuple[int, ...], axis: int | None) -> None:
    assert check(torch.empty(shape), torch.empty(shape), rule=close(axis)).ok


def test_single_numbers_are_compared() -> None:
    assert check(2.0, torch.tensor(2.0)).ok
    assert not check(2.0, torch.tensor(2.001)).ok


@given(values=st.lists(st.floats(width=32), min_size=1, max_size=8), wrong=st.floats(width=32))
@settings(max_examples=100, deadline=None)
def test_reports_are_finite_whatever_the_values(values: list[float], wrong: float) -> None:
    actual = torch.tensor(values, dtype=torch.float32)
    actual[0] = wrong
    answer = check(torch.tensor(values, dtype=torch.float64), actual)
    numbers = [value for value in asdict(answer).values() if isinstance(value, float)]
    assert all(map(math.isfinite, numbers))
    assert answer.matched is not None
    assert 0 <= answer.matched <= 1


def test_the_report_says_where_how_much_and_what_was_expected() -> None:
    answer = check([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.5, 4.0]])
    assert (answer.worst_index, answer.max_abs, answer.matched) == ((1, 0), 0.5, 0.75)
    assert answer.rel_rms == pytest.approx(0.5 / 30**0.5)
    assert "25 %" in answer.message
    assert "3.5 where 3 +- " in answer.message


def test_the_first_wrong_element_is_told_apart_from_the_worst() -> None:
    answer = check([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.01], [3.0, 5.0]])
    assert (answer.first_index, answer.worst_index) == ((0, 1), (1, 1))
    assert check([1.0], [1.0]).first_index is None


def test_an_error_in_a_later_piece_of_a_large_result_is_found() -> None:
    rows, columns = 5, pieces.CHUNK // 3
    truth = gauss(3, rows, columns)
    wrong = truth.float()
    wrong[4, 7] += 1
    answer = check(truth, wrong, rule=close(-1), magnitude=truth.abs())
    assert (answer.kind, answer.worst_index, answer.first_index) == ("wrong_numeric", (4, 7), (4, 7))
    assert answer.matched == 1 - 1 / (rows * columns)


def test_the_repr_is_stable_and_tells_rules_apart() -> None:
    assert repr(close("dim")) == repr(close("dim")) != repr(close())
    assert "0x" not in repr(close())


def test_what_the_dtype_cannot_hold_does_not_widen_the_tolerance_of_the_rest() -> None:
    assert check([1e40, 1.0, 2.0], [INF, 1.0, 2.0]).ok
    assert not check([1e40, 1.0, 2.0], [INF, 1.001, 2.0]).ok


@pytest.mark.parametrize("part", [1.0, 1j])
def test_both_parts_of_complex_numbers_are_compared(part: complex) -> None:
    truth = torch.complex(gauss(1, 64), gauss(2, 64))
    oracle = Oracle((truth,), (truth.to(torch.complex64),))
    assert close()(oracle, (truth.to(torch.complex64),), {}).ok
    wrong = truth.clone()
    wrong[5] += 1e-3 * part
    assert close()(oracle, (wrong.to(torch.complex64),), {}).kind == "wrong_numeric"
    assert close()(oracle, (truth.conj().to(torch.complex64),), {}).kind == "wrong_numeric"
