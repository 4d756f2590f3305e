"""Numbers of the tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import records, words

SPEEDUPS = st.lists(st.floats(0.1, 10.0), min_size=1, max_size=8)


@given(SPEEDUPS)
def test_the_geometric_mean_of_inverses_is_the_inverse(values: list[float]) -> None:
    mean, inverse = records.geomean(values), records.geomean(1 / v for v in values)
    assert mean is not None
    assert inverse is not None
    assert mean * inverse == pytest.approx(1.0)


def test_a_failure_counts_as_one_over_all_that_were_asked() -> None:
    assert records.speedups([4.0], asked=2) == (4.0, 2.0)


def test_nothing_measured_is_unknown() -> None:
    assert records.speedups([None, None], asked=2) == (None, None)


def test_a_solved_task_without_measurement_leaves_the_mean_over_all_unknown() -> None:
    assert records.speedups([2.0, None], asked=3) == (2.0, None)


@pytest.mark.parametrize(("spans", "seconds"), [([], 0.0), ([(0, 2), (1, 3)], 3.0), ([(5, 6), (0, 1)], 2.0), ([(0, 9), (2, 3)], 9.0)])
def test_overlapping_spans_are_counted_once(spans: list[tuple[float, float]], seconds: float) -> None:
    assert records.covered(spans) == seconds


def test_a_measured_attempt_stands_above_a_modelled_one() -> None:
    measured, modelled = {"speedup": 0.5, "modelled": None}, {"speedup": None, "modelled": 9.0}
    assert records.standing(measured) > records.standing(modelled) > records.standing({})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (words.clock(59.6), "1:00"),
        (words.clock(3661), "1:01:01"),
        (words.usd(0.0), "$0.00"),
        (words.usd(0.0, 3), "$ unknown"),
        (words.usd(0.0123), "$0.0123"),
        (words.usd(2.5, 1), ">=$2.50"),
        (words.count(1234567), "1,234,567"),
        (words.count(0, 1), "unknown"),
        (words.speedup(1.5, [1.4, 1.6]), "1.50x [1.40, 1.60]"),
        (words.speedup(None, None), "-"),
    ],
)
def test_numbers_are_written(text: str, shown: str) -> None:
    assert text == shown
