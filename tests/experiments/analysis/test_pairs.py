"""The paired comparison: symmetry, references by other code, what is left out."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from experiments.analysis.pairs import ENOUGH, Outcome, contrast, holm

OUTCOMES = st.one_of(st.just(Outcome(False, None)), st.floats(0.1, 10).map(lambda speed: Outcome(True, speed)))
SIDES = st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(OUTCOMES, OUTCOMES), min_size=1)


def sides(pairs: dict[str, tuple[Outcome, Outcome]]) -> tuple[dict[str, list[Outcome]], dict[str, list[Outcome]]]:
    return {task: [pair[0]] for task, pair in pairs.items()}, {task: [pair[1]] for task, pair in pairs.items()}


@given(SIDES)
def test_sides_exchanged_give_the_inverse(pairs: dict[str, tuple[Outcome, Outcome]]) -> None:
    left, right = sides(pairs)
    there, back = contrast(left, right, 0), contrast(right, left, 0)
    assert (there["only_left"], there["only_right"], there["p"]) == (back["only_right"], back["only_left"], back["p"])
    assert (there["ratio_all"] is None) == (back["ratio_all"] is None)
    if there["ratio_all"] is not None:
        assert there["ratio_all"] * back["ratio_all"] == pytest.approx(1.0)


@given(SIDES)
def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs(pairs: dict[str, tuple[Outcome, Outcome]]) -> None:
    found = contrast(*sides(pairs), 0)
    discordant = found["only_left"] + found["only_right"]
    assert found["p"] == pytest.approx(binomtest(found["only_left"], discordant).pvalue if discordant else 1.0)


@given(SIDES)
def test_the_ratio_lies_within_its_interval(pairs: dict[str, tuple[Outcome, Outcome]]) -> None:
    found = contrast(*sides(pairs), 0)
    assert (found["low"] is None) == (found["faster_pairs"] < ENOUGH)
    if found["low"] is not None:
        assert found["low"] <= found["ratio"] * (1 + 1e-9)
        assert found["ratio"] <= found["high"] * (1 + 1e-9)


def test_the_interval_of_a_large_sample_is_that_of_the_normal_mean() -> None:
    logs = [math.sin(i) for i in range(400)]
    left = {str(i): [Outcome(True, math.exp(value))] for i, value in enumerate(logs)}
    found = contrast(left, {task: [Outcome(True, 1.0)] for task in left}, 0)
    mean = math.fsum(logs) / 400
    half = 1.96 * math.sqrt(math.fsum((value - mean) ** 2 for value in logs) / 399 / 400)
    assert [math.log(found["low"]), math.log(found["high"])] == pytest.approx([mean - half, mean + half], abs=0.1 * half)


def test_seeds_of_a_task_count_as_one_task_in_the_ratio() -> None:
    left = {"a": [Outcome(True, 2.0), Outcome(True, 8.0)], "b": [Outcome(True, 1.0), Outcome(True, 1.0)]}
    right = {task: [Outcome(True, 1.0)] * 2 for task in left}
    found = contrast(left, right, 0)
    assert (found["count"], found["tasks"], found["faster_pairs"]) == (4, 2, 2)
    assert found["ratio"] == pytest.approx(2.0)


def surveyed(both: int, only_left: int, only_right: int, neither: int) -> dict[str, Any]:
    counts = {(True, True): both, (True, False): only_left, (False, True): only_right, (False, False): neither}
    pairs = [pair for pair, count in counts.items() for _ in range(count)]
    left, right = ({str(i): [Outcome(pair[side], None)] for i, pair in enumerate(pairs)} for side in (0, 1))
    return contrast(left, right, 0)


def binomial(fewer: int, discordant: int) -> float:
    """Two-sided, of so many fair coins."""
    return float(2 * Fraction(sum(math.comb(discordant, k) for k in range(fewer + 1)), 2**discordant))


def test_approval_ratings_of_agresti() -> None:
    """Categorical Data Analysis (2nd ed.), Table 10.1: of 1600 asked twice 794 approved both times, 150 and 86 once; z = -4.17 there."""
    found = surveyed(794, 150, 86, 570)
    assert (found["count"], found["both"], found["only_left"], found["only_right"]) == (1600, 794, 150, 86)
    assert found["p"] == pytest.approx(binomial(86, 236))
    assert found["p"] == pytest.approx(math.erfc(4.17 / math.sqrt(2)), rel=0.5)


@pytest.mark.parametrize(("left", "right", "p"), [(9, 1, 22 / 1024), (6, 0, 2 / 64), (5, 3, 186 / 256), (1, 0, 1.0), (4, 4, 1.0)])
def test_small_tables_by_counting_coins(left: int, right: int, p: float) -> None:
    assert surveyed(3, left, right, 2)["p"] == pytest.approx(p)


def test_the_interval_covers_as_often_as_it_says() -> None:
    random, covered = np.random.default_rng(11), 0
    for seed in range(200):
        logs = random.normal(0.2, 0.5, 30)
        left = {str(i): [Outcome(True, float(np.exp(value)))] for i, value in enumerate(logs)}
        found = contrast(left, {task: [Outcome(True, 1.0)] for task in left}, seed)
        covered += found["low"] <= math.exp(0.2) <= found["high"]
    assert 180 <= covered <= 198


def test_holm_s_worked_example() -> None:
    """Four tests at 0.01, 0.04, 0.03 and 0.005: times 3, 1, 2 and 4, and never below a smaller one's."""
    assert holm([0.01, None, 0.04, 0.03, 0.005]) == [value and pytest.approx(value) for value in (0.03, None, 0.06, 0.06, 0.02)]
