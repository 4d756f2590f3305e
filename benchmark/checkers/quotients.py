"""Quotients that are rounded to whole numbers."""

from dataclasses import dataclass

import torch

from benchmark.checkers.close import close
from benchmark.checkers.form import each
from benchmark.checkers.pieces import compare
from benchmark.checkers.same import equal
from benchmark.precision import BITS, eps
from benchmark.task import Arguments, Check, Oracle


@dataclass(frozen=True)
class quotients:
    """Division as in torch.div: `close` for a `mode` of None, whole numbers for "trunc" and "floor".

    `Task.truth` returns (result, quotient before rounding), both in fp64. A quotient that is not whole, but nearer to a whole number
    than `near * eps(dtype)` of itself, may be rounded to either side. Everywhere else the whole number must be the right one, as the
    dtype holds it; for a quotient that is whole to begin with, too.
    """

    mode: str = "rounding_mode"
    """The argument that holds the rounding mode."""
    near: float = 4.0

    def __call__(self, oracle: Oracle, actual: tuple[torch.Tensor, ...], arguments: Arguments) -> Check:
        if arguments.get(self.mode) is None:
            return close()(oracle, actual, arguments)

        def one(index: int) -> Check:
            expected, quotient, dtype = oracle.expected[0], oracle.expected[1], oracle.honest[0].dtype
            if dtype not in BITS:
                return equal(expected, actual[0])
            nearest = quotient.round()
            distance = (quotient - nearest).abs()
            either = (distance > 0) & (distance <= self.near * eps(dtype) * quotient.abs())
            # Half-way between the two that are right: one below in both modes, above for a negative number that is truncated.
            below = 0.5 if arguments[self.mode] == "floor" else 0.5 * nearest.sign()
            centre = torch.where(either, nearest - below, expected)
            allowed = torch.where(either, 0.5 + self.near * eps(dtype) * quotient.abs(), eps(dtype) / 2 * expected.abs())
            return compare(centre.to(dtype), actual[0], centre, lambda _, part: part(allowed))

        return each(oracle, actual, one)

    @property
    def words(self) -> str:
        return (
            "whole numbers must be those of the exact quotient; one that is not whole, but within a few roundings of a whole number, may "
            "go to either side; without a rounding mode the quotient is compared within a few roundings of the output's dtype"
        )
