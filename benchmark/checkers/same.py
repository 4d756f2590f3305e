"""Equality, for copies, comparisons and integers."""

from dataclasses import dataclass

import torch

from benchmark.checkers.form import each, percent
from benchmark.task import Arguments, Check, Oracle


@dataclass(frozen=True)
class exact:
    """Every element equal (NaN equals NaN)."""

    def __call__(self, oracle: Oracle, actual: tuple[torch.Tensor, ...], arguments: Arguments) -> Check:
        return each(oracle, actual, lambda index: equal(oracle.honest[index], actual[index]))

    @property
    def words(self) -> str:
        return "every element must be equal to the reference's (NaN to NaN, and zeros of either sign to each other)"


def equal(expected: torch.Tensor, actual: torch.Tensor) -> Check:
    same = actual == expected
    if expected.dtype.is_floating_point:
        same = same | (actual.isnan() & expected.isnan())
    return shares(same, "differs from the reference")


def shares(right: torch.Tensor, what: str) -> Check:
    """The check for elements that are right or wrong without an error to measure."""
    if bool(right.all()):
        return Check(True, matched=1.0)
    share = float(right.double().mean())
    first = tuple(int(position) for position in (~right).nonzero()[0])
    message = f"{percent(1 - share)} of the elements are wrong: the one at {first} {what}"
    return Check(False, "wrong_numeric", message, matched=share, first_index=first)
