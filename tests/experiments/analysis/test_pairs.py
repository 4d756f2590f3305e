"""The paired comparison: symmetry, references by other code, what is left out."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from experiments.analysis.pairs import ENOUGH, Outcome, paired

OUTCOMES = st.one_of(st.just(Outcome(False, None)), st.floats(0.1, 10).map(lambda speed: Outcome(True, speed)))
SIDES = st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(OUTCOMES, OUTCOMES), min_size=1)


def sides(pairs: dict[str, tuple[Outcome, Outcome]]) -> tuple[dict[str, list[Outcome]], dict[str, list[Outcome]]]:
    return {task: [pair[0]] for task, pair in pairs.items()}, {task: [pair[1]] for task, pair in pairs.items()}


@given(SIDES)
def test_sides_exchanged_give_the_inverse(pairs: dict[str, tuple[Outcome, Outcome]]) -> None:
    left, right = sides(pairs)
    there, back = paired(left, right, 0), paired(right, left, 0)
    assert (there["only_left"], there["only_right"], there["p"]) == (back["only_right"], back["only_left"], back["p"])
    assert (there["ratio_all"] is None) == (back["ratio_all"] is None)
    if there["ratio_all"] is not None:
        assert there["ratio_all"] * back["ratio_all"] == pytest.approx(1.0)


@given(SIDES)
def test_mcnemar_is_the_binomial_test_of_the_discordant_pairs(pairs: dict[str, tuple[Outcome, Outcome]]) -> None:
    found = paired(*sides(pairs), 0)
    discordant = found["only_left"] + found["only_right"]
    assert found["p"] == pytest.approx(binomtest(found["only_left"], discordant).pvalue if discordant else 1.0)


@given(SIDES)
def test_the_ratio_lies_within_its_interval(pairs: dict[str, tuple[Outcome, Outcome]]) -> None:
    found = paired(*sides(pairs), 0)
    assert (found["low"] is None) == (found["faster_pairs"] < ENOUGH)
    if found["low"] is not None:
        assert found["low"] <= found["ratio"] * (1 + 1e-9)
        assert found["ratio"] <= found["high"] * (1 + 1e-9)


def test_the_interval_of_a_large_sample_is_that_of_the_normal_mean() -> None:
    logs = [math.sin(i) for i in range(400)]
    left = {str(i): [Outcome(True, math.exp(value))] for i, value in enumerate(logs)}
    found = paired(left, {task: [Outcome(True, 1.0)] for task in left}, 0)
    mean = math.fsum(logs) / 400
    half = 1.96 * math.sqrt(math.fsum((value - mean) ** 2 for value in logs) / 399 / 400)
    assert [math.log(found["low"]), math.log(found["high"])] == pytest.approx([mean - half, mean + half], abs=0.1 * half)


def test_seeds_of_a_task_count_as_one_task_in_the_ratio() -> None:
    left = {"a": [Outcome(True, 2.0), Outcome(True, 8.0)], "b": [Outcome(True, 1.0), Outcome(True, 1.0)]}
    right = {task: [Outcome(True, 1.0)] * 2 for task in left}
    found = paired(left, right, 0)
    assert (found["count"], found["tasks"], found["faster_pairs"]) == (4, 2, 2)
    assert found["ratio"] == pytest.approx(2.0)
