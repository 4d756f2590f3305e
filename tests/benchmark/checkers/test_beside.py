"""`beside`: the first output by one rule, the others by another."""

import torch

from benchmark.checkers import beside, binomial, exact
from benchmark.task import Oracle

BITS = torch.arange(2000)
CHANCE = torch.full((2000,), 0.3, dtype=torch.float64)
ORACLE = Oracle((BITS, torch.full_like(CHANCE, 9), CHANCE), (BITS, CHANCE.float()))
RULE = beside(exact(), binomial())


def samples(seed: int) -> torch.Tensor:
    return torch.binomial(torch.full((2000,), 9.0), CHANCE.float(), generator=torch.Generator().manual_seed(seed))


def test_both_must_be_right() -> None:
    right = samples(0)
    assert RULE(ORACLE, (BITS, right), {}).ok
    assert RULE(ORACLE, (BITS + 1, right), {}).kind == "wrong_numeric"
    assert RULE(ORACLE, (BITS, torch.full_like(right, 3)), {}).kind == "wrong_numeric"


def test_an_output_more_or_less_is_a_wrong_shape() -> None:
    assert RULE(ORACLE, (BITS,), {}).kind == "wrong_shape"
    assert RULE(ORACLE, (BITS, samples(0), samples(1)), {}).kind == "wrong_shape"


def test_the_same_samples_again_are_not_fresh_though_the_first_output_is_equal() -> None:
    assert RULE.fresh(ORACLE, (BITS, samples(0)), (BITS, samples(1)), {}).ok
    assert not RULE.fresh(ORACLE, (BITS, samples(0)), (BITS, samples(0)), {}).ok


def test_words_say_both_rules() -> None:
    assert exact().words in RULE.words
    assert binomial().words in RULE.words
