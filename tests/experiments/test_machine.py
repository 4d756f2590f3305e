"""Executor settings of a run: choices are checked, and a typo is one sentence."""

from typing import Any

import pytest

from benchmark.errors import UserError
from experiments.config import parse
from experiments.machine import Machine


def machine(**executor: Any) -> Machine:
    return Machine.of(parse({"scaffold": {}, "executor": {"device": "simulated", **executor}}, "geak"))


def test_defaults_are_those_of_the_settings() -> None:
    settings = machine().settings
    assert (settings.timing, settings.baselines, settings.profile) == ("short", ("eager",), "roofline")


@pytest.mark.parametrize(
    ("wanted", "baselines"),
    [("eager", ("eager",)), ("compile", ("eager", "compile")), (["eager", "compile"], ("eager", "compile")), ([], ("eager",))],
)
def test_eager_is_always_a_baseline(wanted: Any, baselines: tuple[str, ...]) -> None:
    assert machine(baselines=wanted).settings.baselines == baselines


@pytest.mark.parametrize("profile", ["off", "roofline", "ncu"])
def test_the_profile_enters_the_settings(profile: str) -> None:
    assert machine(profile=profile).settings.profile == profile


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("profile", "nuc", "Unknown executor.profile 'nuc'"),
        ("baselines", ["eager", "compiled"], "Unknown executor.baselines 'compiled'"),
        ("timing", "of", "Unknown executor.timing 'of'"),
        ("sandbox", "non", "Unknown executor.sandbox 'non'"),
    ],
)
def test_a_typo_is_one_sentence(key: str, value: Any, words: str) -> None:
    with pytest.raises(UserError) as raised:
        machine(**{key: value})
    assert words in str(raised.value)
