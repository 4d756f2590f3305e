"""Fractional max pooling by its rule: what an honest kernel draws passes, what is no such pooling does not."""

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from benchmark.checkers import fractional
from benchmark.task import Check, Oracle

RULE = fractional()


def starts(length: int, size: int, count: int, u: float) -> list[int]:
    alpha = (length - size) / max(1, count - 1)
    return [*(int((i + u) * alpha) - int(u * alpha) for i in range(count - 1)), length - size]


def pooled(image: Tensor, size: int, counts: tuple[int, int], u: Tensor) -> tuple[Tensor, Tensor]:
    """Maxima and places, window by window; `u` is (planes, 2)."""
    values, places = torch.zeros(len(image), *counts, dtype=image.dtype), torch.zeros(len(image), *counts, dtype=torch.int64)
    width = image.shape[2]
    for plane in range(len(image)):
        rows, columns = (starts(image.shape[1 + axis], size, counts[axis], float(u[plane, axis])) for axis in (0, 1))
        for i, top in enumerate(rows):
            for j, left in enumerate(columns):
                window = image[plane, top : top + size, left : left + size].reshape(-1)
                at = int(window.argmax())
                values[plane, i, j], places[plane, i, j] = window[at], (top + at // size) * width + left + at % size
    return values, places


def drawn(planes: int, seed: int, change: Callable[[Tensor], Tensor] = lambda u: u) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    rng = torch.Generator().manual_seed(seed)
    image = torch.randn(planes, 11, 13, generator=rng).relu()
    return image, pooled(image, 2, (5, 6), change(torch.rand(planes, 2, generator=rng, dtype=torch.float64)))


def check(image: Tensor, outputs: tuple[Tensor, ...]) -> Check:
    return RULE(Oracle((image.double(),), outputs), outputs, {"kernel_size": 2})


@given(seed=st.integers(0, 2**31), planes=st.integers(1, 60), places=st.booleans())
@settings(max_examples=25, deadline=None)
def test_independent_draws_pass(seed: int, planes: int, places: bool) -> None:
    image, outputs = drawn(planes, seed)
    answer = check(image, outputs if places else outputs[:1])
    assert answer.ok, answer.message


@given(seed=st.integers(0, 2**31), data=st.data())
@settings(max_examples=25, deadline=None)
def test_one_other_value_fails(seed: int, data: st.DataObject) -> None:
    image, (values, _) = drawn(9, seed)
    at = tuple(data.draw(st.integers(0, size - 1)) for size in values.shape)
    values[at] = torch.nextafter(values[at], torch.tensor(9.0))
    assert check(image, (values,)).kind == "wrong_numeric"


def test_a_place_without_the_maximum_fails() -> None:
    image, (values, places) = drawn(9, 1)
    places[3, 2, 1] = int(image[3].argmin())
    answer = check(image, (values, places))
    assert (answer.kind, "place" in answer.message) == ("wrong_numeric", True)


def test_a_place_outside_the_image_fails() -> None:
    image, (values, places) = drawn(9, 1)
    places[0, 0, 0] = -1
    assert not check(image, (values, places)).ok
    places[0, 0, 0] = 10**6
    assert not check(image, (values, places)).ok


def test_any_place_of_a_tie_passes() -> None:
    image = torch.zeros(40, 11, 13)
    values, places = pooled(image, 2, (5, 6), torch.rand(40, 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64))
    assert check(image, (values, places + 1)).ok
    assert not check(image, (values, places + 2)).ok


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (torch.zeros_like, "uniform"),
        (lambda u: u[:1].expand_as(u), "uniform"),
        (lambda u: u * 0.2, "uniform"),
        (lambda u: u[:, :1].expand_as(u), "rows and columns"),
        (lambda u: u[torch.arange(len(u)) // 2 * 2], "independently for each plane"),
    ],
    ids=["no draw", "one draw for all planes", "a fifth of the interval", "one draw for both axes", "one draw for two planes"],
)
def test_draws_that_are_not_independent_and_uniform_fail(change: Callable[[Tensor], Tensor], words: str) -> None:
    image, outputs = drawn(700, 5, change)
    answer = check(image, outputs)
    assert (answer.kind, words in answer.message) == ("wrong_numeric", True), answer.message


def test_windows_of_another_rule_fail() -> None:
    image, _ = drawn(9, 2)
    adaptive = torch.nn.functional.adaptive_max_pool2d(image, (5, 6))
    assert "no legal windows" in check(image, (adaptive,)).message


def test_two_calls_must_not_take_the_same_windows() -> None:
    image, outputs = drawn(120, 7)
    rng = torch.Generator().manual_seed(8)
    others = pooled(image, 2, (5, 6), torch.rand(120, 2, generator=rng, dtype=torch.float64))
    oracle = Oracle((image.double(),), outputs)
    assert RULE.fresh(oracle, outputs, others, {"kernel_size": 2}).ok
    assert RULE.fresh(oracle, outputs, outputs, {"kernel_size": 2}).kind == "wrong_numeric"


def test_nothing_is_drawn_where_there_is_no_choice() -> None:
    image, _ = drawn(6, 1)
    whole = image.clone()
    oracle = Oracle((image.double(),), (whole,))
    assert RULE(oracle, (whole,), {"kernel_size": 1}).ok
    assert RULE.fresh(oracle, (whole,), (whole,), {"kernel_size": 1}).ok


def test_no_planes_pass() -> None:
    empty, outputs = torch.zeros(0, 11, 13), (torch.zeros(0, 5, 6),)
    assert check(empty, outputs).ok
