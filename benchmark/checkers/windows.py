"""The starts of windows that fractional max pooling may choose along an axis."""

import math
from dataclasses import dataclass
from functools import cache, cached_property

import torch

Tensor = torch.Tensor


@dataclass(frozen=True)
class Windows:
    """All legal sequences of `count` starts, for `slack` = length - size of a window.

    Start i is `int((i + u) * alpha) - int(u * alpha)` with `alpha = slack / (count - 1)` for one u in [0, 1), and the last one is
    `slack`. As a function of u these are finitely many sequences, which change at multiples of 1 / M. Where `(i + u) * alpha` is
    nearly whole, its rounding decides for each i alone, and errs to one side for the larger ones: such sequences are legal too,
    and so seldom that their share counts as 0.
    """

    slack: int
    count: int

    @cached_property
    def _shares(self) -> dict[tuple[int, ...], float]:
        """The share of u that leads to each sequence, in the order of the sequences."""
        if self.count < 2 or not self.slack:
            return {(0,) * (self.count - 1) + (self.slack,): 1.0}
        pieces = self.slack // math.gcd(self.slack, self.count - 1)
        shares: dict[tuple[int, ...], float] = {}
        for piece in range(pieces):
            starts = self._starts(self._floors(2 * piece + 1, 2 * pieces))
            shares[starts] = shares.get(starts, 0.0) + 1 / pieces
        for border in range(pieces + 1):
            before, after = self._floors(2 * border - 1, 2 * pieces), self._floors(2 * border + 1, 2 * pieces)
            for at in [index for index in range(1, self.count - 1) if before[index] != after[index]]:
                for left, right in ((before, after), (after, before)):
                    shares.setdefault(self._starts(left[:at] + right[at:]), 0.0)
        return dict(sorted(shares.items()))

    def _floors(self, numerator: int, denominator: int) -> list[int]:
        """`floor((i + u) * alpha)` of u = numerator / denominator, exactly."""
        below = denominator * (self.count - 1)
        return [(i * denominator + numerator) * self.slack // below for i in range(self.count - 1)]

    def _starts(self, floors: list[int]) -> tuple[int, ...]:
        return (*(floor - floors[0] for floor in floors), self.slack)

    def starts(self, device: torch.device) -> Tensor:
        """(sequences, count) starts."""
        return torch.tensor(list(self._shares), dtype=torch.int64, device=device).reshape(-1, self.count)

    def shares(self, device: torch.device) -> Tensor:
        """With what probability each sequence is drawn."""
        return torch.tensor(list(self._shares.values()), dtype=torch.float64, device=device)

    def scores(self, device: torch.device) -> Tensor:
        """A number within +-0.5 for each sequence, by its rank; 0 on average over what is drawn."""
        shares = self.shares(device)
        return shares.cumsum(0) - shares / 2 - 0.5

    @property
    def variance(self) -> float:
        """Of the score of a sequence that is drawn."""
        cpu = torch.device("cpu")
        return float((self.shares(cpu) * self.scores(cpu).square()).sum())


@cache
def windows(length: int, size: int, count: int) -> Windows:
    return Windows(length - size, count)
