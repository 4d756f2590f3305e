from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.checkers import ties
from benchmark.task import Check, Oracle

NAN = float("nan")


def check(values: Any, actual: torch.Tensor, dim: int | None = 1, keepdim: bool = False, largest: bool = True) -> Check:
    values = torch.as_tensor(values, dtype=torch.float32)
    search = torch.argmax if largest else torch.argmin
    truth = search(values, dim, keepdim=keepdim)
    return ties(largest=largest)(Oracle((truth,), (truth,)), (actual,), {"input": values, "dim": dim, "keepdim": keepdim})


@given(rows=st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=1, max_size=6), data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_index_of_the_maximum_passes_and_no_other(rows: list[list[int]], data: st.DataObject) -> None:
    picks = [data.draw(st.integers(0, 4)) for _ in rows]
    right = all(row[pick] == max(row) for row, pick in zip(rows, picks, strict=True))
    assert check(rows, torch.tensor(picks)).ok == right


def test_the_minimum_likewise() -> None:
    assert check([[3.0, 1.0, 1.0]], torch.tensor([2]), largest=False).ok
    assert not check([[3.0, 1.0, 1.0]], torch.tensor([0]), largest=False).ok


@pytest.mark.parametrize("index", [-1, 3, 2**40])
def test_an_index_outside_fails(index: int) -> None:
    assert check([[1.0, 2.0, 2.0]], torch.tensor([index])).kind == "wrong_numeric"


def test_nan_counts_as_the_maximum() -> None:
    values = [[1.0, NAN, 3.0, NAN]]
    assert check(values, torch.tensor([3])).ok
    assert not check(values, torch.tensor([2])).ok


def test_the_flattened_tensor_is_searched_without_a_dim() -> None:
    assert check([[1.0, 7.0], [7.0, 2.0]], torch.tensor(2), dim=None).ok
    assert not check([[1.0, 7.0], [7.0, 2.0]], torch.tensor(0), dim=None).ok


def test_keepdim_is_part_of_the_form() -> None:
    values = [[1.0, 2.0], [4.0, 3.0]]
    assert check(values, torch.tensor([[1], [0]]), keepdim=True).ok
    assert check(values, torch.tensor([1, 0]), keepdim=True).kind == "wrong_shape"


def test_indices_in_another_dtype_fail() -> None:
    assert check([[1.0, 2.0]], torch.tensor([1], dtype=torch.int32)).kind == "wrong_dtype"
