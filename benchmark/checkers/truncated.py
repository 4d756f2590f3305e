"""Real values that are cut to integers."""

from dataclasses import dataclass

import torch

from benchmark.checkers.form import each
from benchmark.checkers.pieces import pieces
from benchmark.checkers.same import shares
from benchmark.precision import eps
from benchmark.task import Arguments, Check, Oracle


@dataclass(frozen=True)
class truncated:
    """`trunc(value)` as an integer, for values that fp32 arithmetic finds; `Task.truth` gives them in fp64.

    Where a value lies within `near` roundings of fp32 below a whole number (in magnitude), that number is right as well.
    """

    near: float = 4.0

    def __call__(self, oracle: Oracle, actual: tuple[torch.Tensor, ...], arguments: Arguments) -> Check:
        def one(index: int) -> Check:
            right = torch.empty(actual[index].shape, dtype=torch.bool, device=actual[index].device)
            for value, own, into, _ in pieces(oracle.expected[index], actual[index], right):
                up = (value * (1 + self.near * eps(torch.float32))).trunc()
                into.copy_((own == value.trunc()) | (own == up))
            return shares(right, "is no truncation of the value")

        return each(oracle, actual, one)

    @property
    def words(self) -> str:
        return (
            f"every element must be equal to the fp32 value cut towards zero; where the exact value lies within {self.near:g} roundings of "
            "fp32 below a whole number, that number is right as well"
        )
