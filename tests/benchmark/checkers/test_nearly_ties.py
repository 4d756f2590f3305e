from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.checkers import nearly_ties, ties
from benchmark.task import Check, Oracle

Tensor = torch.Tensor
NAN = float("nan")


def valued(values: Any, found: Any, picked: Any, dtype: torch.dtype = torch.float32) -> Check:
    """`ties` for an operator that returns (values, indices) of the smallest along the last axis."""
    values = torch.as_tensor(values, dtype=dtype)
    truth = tuple(torch.min(values, 1))
    answer = (torch.as_tensor(found, dtype=dtype), torch.as_tensor(picked))
    return ties(largest=False, valued=True)(Oracle(truth, truth), answer, {"input": values, "dim": 1})


def nearly(values: Any, found: Any, picked: Any, dim: int | None = 1, dtype: torch.dtype = torch.float32) -> Check:
    """`nearly_ties` for the minimum of computed values, which are given in fp64."""
    values = torch.as_tensor(values, dtype=torch.float64)
    smallest = values.min() if dim is None else values.min(dim).values
    indices = () if dim is None else (values.min(dim).indices,)
    answer = (torch.as_tensor(found, dtype=dtype), *(() if dim is None else (torch.as_tensor(picked),)))
    return nearly_ties()(Oracle((values,), (smallest.to(dtype), *indices)), answer, {"input": values, "dim": dim})


@given(rows=st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=1, max_size=6), data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_index_of_the_minimum_passes_beside_its_value(rows: list[list[int]], data: st.DataObject) -> None:
    picks = [data.draw(st.integers(0, 4)) for _ in rows]
    right = all(row[pick] == min(row) for row, pick in zip(rows, picks, strict=True))
    assert valued(rows, [min(row) for row in rows], picks).ok == right


@pytest.mark.parametrize("found", [2.0, 1.0 + 2**-23, NAN])
def test_a_value_that_is_not_the_minimum_fails_beside_a_right_index(found: float) -> None:
    assert valued([[3.0, 1.0, 2.0]], [1.0], [1]).ok
    assert valued([[3.0, 1.0, 2.0]], [found], [1]).kind == "wrong_numeric"


def test_a_nan_is_the_minimum_with_its_index() -> None:
    assert valued([[3.0, NAN, 2.0, NAN]], [NAN], [3]).ok
    assert not valued([[3.0, NAN, 2.0, NAN]], [NAN], [2]).ok
    assert not valued([[3.0, NAN, 2.0, NAN]], [2.0], [2]).ok


def test_both_outputs_are_asked_for() -> None:
    values = torch.tensor([[3.0, 1.0]])
    truth = tuple(torch.min(values, 1))
    checker = ties(largest=False, valued=True)
    assert checker(Oracle(truth, truth), (truth[0],), {"input": values, "dim": 1}).kind == "wrong_shape"


@given(rows=st.lists(st.lists(st.integers(-999, 999), min_size=3, max_size=7), min_size=1, max_size=1))
@settings(max_examples=60, deadline=None)
def test_a_computation_in_fp32_passes(rows: list[list[int]]) -> None:
    values = torch.tensor(rows, dtype=torch.float64) / 977
    found = values.float().min(1)
    assert nearly(values, found.values, found.indices).ok


def test_an_index_of_what_rounds_to_the_minimum_passes_and_of_no_more() -> None:
    values = [[1.0, 1.0 + 2**-23, 1.0 + 2**-15, 5.0]]
    assert nearly(values, [1.0], [1]).ok
    assert nearly(values, [1.0], [2]).kind == "wrong_numeric"
    assert nearly(values, [1.0 + 2**-15], [0]).kind == "wrong_numeric"
    assert nearly(values, [1.0], [2], dtype=torch.float16).ok


@pytest.mark.parametrize("picked", [-1, 4])
def test_an_index_outside_fails(picked: int) -> None:
    assert nearly([[1.0, 2.0, 3.0, 4.0]], [1.0], [picked]).kind == "wrong_numeric"


def test_without_an_axis_the_value_alone_is_looked_at() -> None:
    assert nearly([[1.0, 2.0], [0.5, 3.0]], 0.5, None, dim=None).ok
    assert not nearly([[1.0, 2.0], [0.5, 3.0]], 1.0, None, dim=None).ok


def test_nan_counts_as_the_minimum_of_computed_values() -> None:
    assert nearly([[1.0, NAN, 3.0]], [NAN], [1]).ok
    assert not nearly([[1.0, NAN, 3.0]], [NAN], [0]).ok
    assert not nearly([[1.0, NAN, 3.0]], [1.0], [0]).ok


def test_the_next_lower_precision_fails() -> None:
    assert not nearly([[1.0, 1.2345678]], [1.0 + 2**-11], [0]).ok
    assert not nearly([[1.0035, 2.0]], [1.0], [0], dtype=torch.float16).ok
