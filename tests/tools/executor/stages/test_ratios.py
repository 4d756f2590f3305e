"""Intervals over blocks, and means over sizes."""

import math
import random

import pytest

from tools.evaluation import TimedSize
from tools.executor.stages.ratios import apart, geometric, interval, mean


def test_interval_covers_the_median_ratio():
    rng = random.Random(3)
    speedup, (low, high) = interval([math.log(2) + rng.gauss(0, 0.05) for _ in range(20)], rng)
    assert low < 2 < high
    assert low < speedup < high


def test_interval_over_blocks_is_as_wide_as_blocks_differ():
    def width(spread: float) -> float:
        rng = random.Random(5)
        _, (low, high) = interval([rng.gauss(0, spread) for _ in range(12)], rng)
        return high - low

    assert width(0.2) > 5 * width(0.02)


def test_one_block_gone_wrong_moves_the_median_little():
    speedup, _ = interval([0.0] * 11 + [math.log(50)], random.Random(0))
    assert speedup == 1.0


def test_sizes_are_combined_by_their_geometric_mean():
    speedup, (low, high) = mean([TimedSize("a", 1, 1, 1.0, [0.9, 1.1]), TimedSize("b", 4, 1, 4.0, [3.9, 4.1])])
    assert speedup == pytest.approx(2.0)
    assert low < 2.0 < high
    assert geometric([1.0, 4.0]) == pytest.approx(2.0)


def test_blocks_that_were_apart_are_compared_by_their_medians():
    rng = random.Random(1)
    assert 1.05 < apart([110.0, 111.0, 109.0, 110.0], [100.0, 99.0, 101.0], rng) <= 1.1
    assert apart([100.0, 140.0, 99.0, 101.0], [100.0, 99.0, 101.0], rng) < 1.02
