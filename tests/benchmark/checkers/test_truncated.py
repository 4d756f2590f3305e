"""`truncated`: whole numbers cut from real values; only fp32's own rounding is forgiven."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.checkers import truncated
from benchmark.task import Check, Oracle


def check(values: list[float], actual: list[int]) -> Check:
    truth = torch.tensor(values, dtype=torch.float64)
    return truncated()(Oracle((truth,), (truth.trunc().to(torch.int8),)), (torch.tensor(actual, dtype=torch.int8),), {})


@given(st.lists(st.floats(-120, 120, width=32), min_size=1))
@settings(max_examples=50, deadline=None)
def test_what_fp32_cuts_passes_and_a_neighbour_fails(values: list[float]) -> None:
    cut = [int(value) for value in values]
    assert check(values, cut).ok
    assert check(values, [cut[0] - 1, *cut[1:]]).kind == "wrong_numeric"


def test_a_value_just_below_a_whole_number_may_be_either() -> None:
    assert check([6 - 1e-8, 6 - 1e-8], [5, 6]).ok
    assert check([-6 + 1e-8, -6 + 1e-8], [-5, -6]).ok


def test_a_whole_number_is_that_number_alone() -> None:
    assert not check([6.0], [5]).ok


def test_a_rounding_that_fp32_does_not_need_is_wrong() -> None:
    found = check([1.0, 6 - 1e-5], [1, 6])
    assert (found.kind, found.first_index) == ("wrong_numeric", (1,))


def test_shape_and_dtype_count() -> None:
    truth = torch.zeros(3, dtype=torch.float64)
    oracle = Oracle((truth,), (truth.to(torch.int8),))
    assert truncated()(oracle, (torch.zeros(3),), {}).kind == "wrong_dtype"
    assert truncated()(oracle, (torch.zeros(1, dtype=torch.int8),), {}).kind == "wrong_shape"
