import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.checkers import exact
from benchmark.task import Check, Oracle


def check(expected: torch.Tensor, actual: torch.Tensor) -> Check:
    return exact()(Oracle((expected.double(),), (expected,)), (actual,), {})


@given(values=st.lists(st.floats(width=32), max_size=20))
@settings(max_examples=50, deadline=None)
def test_the_same_values_pass_nan_included(values: list[float]) -> None:
    tensor = torch.tensor(values, dtype=torch.float32)
    assert check(tensor, tensor.clone()).ok


@given(values=st.lists(st.integers(-9, 9), min_size=1, max_size=20), data=st.data())
@settings(max_examples=50, deadline=None)
def test_one_other_element_fails_and_is_found(values: list[int], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(values) - 1))
    actual = torch.tensor(values)
    actual[at] += 1
    answer = check(torch.tensor(values), actual)
    assert (answer.kind, answer.first_index) == ("wrong_numeric", (at,))


def test_the_smallest_difference_fails() -> None:
    one = torch.ones(3)
    assert not check(one, torch.nextafter(one, 2 * one)).ok


@pytest.mark.parametrize(("actual", "kind"), [(torch.ones(3, 1), "wrong_shape"), (torch.ones(3, dtype=torch.float64), "wrong_dtype")])
def test_the_form_comes_first(actual: torch.Tensor, kind: str) -> None:
    assert check(torch.ones(3), actual).kind == kind
