"""Intervals against published examples, and how often they hold what was drawn from."""

import math
from random import Random

import pytest

from experiments.analysis.intervals import clustered_geomean, wilson


@pytest.mark.parametrize(
    ("successes", "asked", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (0, 10, 0.0000, 0.2775),
        (10, 10, 0.7225, 1.0000),
        (5, 10, 0.2366, 0.7634),
    ],
)
def test_wilson_is_newcombes_method_3(successes: int, asked: int, low: float, high: float) -> None:
    """The first four: Newcombe 1998, Statistics in Medicine 17, table I. The others: (p + z^2/2n +- ...) by hand."""
    assert wilson(successes, asked) == pytest.approx((low, high), abs=5e-5)


def drawn(seed: int, tasks: int, each: int) -> tuple[list[float], list[str]]:
    """Geometric mean 1; the values of a task are alike."""
    random = Random(seed)
    levels = {f"t{i}": random.gauss(0, 0.5) for i in range(tasks)}
    names = [task for task in levels for _ in range(each)]
    return [math.exp(levels[task] + random.gauss(0, 0.1)) for task in names], names


def test_clustered_intervals_hold_the_true_mean_about_as_often_as_they_say() -> None:
    held = 0
    for seed in range(100):
        low, high = clustered_geomean(*drawn(seed, 30, 4), seed=seed)
        assert low is not None
        assert high is not None
        held += low <= 1 <= high
    assert 86 <= held <= 100


def test_a_value_said_twice_makes_no_interval_narrower() -> None:
    values, tasks = drawn(0, 10, 1)
    assert clustered_geomean(values * 2, tasks * 2, 0) == pytest.approx(clustered_geomean(values, tasks, 0))


def test_few_tasks_have_none_however_many_values() -> None:
    assert clustered_geomean(*drawn(0, 4, 25), seed=0) == (None, None)


def test_the_same_seed_gives_the_same_interval() -> None:
    values, tasks = drawn(0, 10, 2)
    assert clustered_geomean(values, tasks, 3) == clustered_geomean(values, tasks, 3) != clustered_geomean(values, tasks, 4)
