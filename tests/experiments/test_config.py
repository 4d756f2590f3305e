"""Configs are checked by key and type, and every mistake is one sentence."""

from typing import Any

import pytest

from benchmark.errors import UserError
from experiments.config import RunConfig, parse


def test_defaults_are_those_of_the_dataclass() -> None:
    assert parse({"scaffold": {}}, "geak") == RunConfig("geak", {})


def test_one_seed_or_a_list_of_seeds() -> None:
    assert parse({"scaffold": {}, "seed": 3}, "geak").seeds == [3]
    assert parse({"scaffold": {}, "seed": [1, 2]}, "geak").seeds == [1, 2]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("budgt", {}, "Did you mean 'budget'?"),
        ("scaffold_name", "x", "Unknown key 'scaffold_name'"),
        ("budget", {"usdd": 1}, "Did you mean 'budget.usd'?"),
        ("budget", {"usd": "five"}, "budget.usd must be a number or null, not 'five'."),
        ("budget", {"tokens": 0}, "budget.tokens must be above 0"),
        ("budget", 5, "budget is a group of keys"),
        ("budget", {"trajectory": 5}, "budget.trajectory is a group of keys; set one as budget.trajectory.tokens=..., not 5."),
        ("budget", {"trajectory": {"usd": -1}}, "budget.trajectory.usd must be above 0, not -1; null is unlimited."),
        ("budget", {"call": {"evaluations": 1}}, "Unknown key 'budget.call.evaluations'"),
        ("budget", {"call": {"tokens": 1.5}}, "budget.call.tokens must be a whole number or null, not 1.5."),
        ("rounds", 1.5, "rounds must be a whole number or null, not 1.5."),
        ("rounds", True, "rounds must be a whole number or null, not True."),
        ("feedback_tokens", 10, "feedback_tokens must be at least 64, not 10"),
        ("concurrency", 0, "concurrency must be at least 1, not 0."),
        ("executor", {"targets": ["a", 1]}, "executor.targets must be"),
        ("seed", [1, 1], "seed must be a number or a list of different numbers"),
        ("seed", [], "seed must be a number or a list of different numbers"),
        ("run_id", "../x", "run_id must be a plain name"),
    ],
)
def test_a_wrong_key_or_value_is_named(key: str, value: Any, message: str) -> None:
    with pytest.raises(UserError) as raised:
        parse({"scaffold": {}, key: value}, "geak")
    assert message in str(raised.value)
