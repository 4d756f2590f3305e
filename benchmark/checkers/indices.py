"""Indices of an extremum, where several may be right."""

from dataclasses import dataclass

import torch

from benchmark.checkers.form import each
from benchmark.checkers.same import shares
from benchmark.task import Arguments, Check, Oracle


@dataclass(frozen=True)
class ties:
    """Any index that attains the extremum along the axis is right. NaN counts as the extremum, as in torch."""

    values: str = "input"
    """The argument that is searched."""
    axis: str = "dim"
    """The argument that holds the axis, None for the flattened tensor."""
    largest: bool = True

    def __call__(self, oracle: Oracle, actual: tuple[torch.Tensor, ...], arguments: Arguments) -> Check:
        values, dim = arguments[self.values], arguments.get(self.axis)
        if dim is None:
            values, dim = values.reshape(-1), 0
        best = values.amax(dim, keepdim=True) if self.largest else values.amin(dim, keepdim=True)

        def one(index: int) -> Check:
            found = actual[index].reshape(best.shape)
            inside = (found >= 0) & (found < values.shape[dim])
            picked = values.gather(dim, torch.where(inside, found, 0))
            right = inside & ((picked == best) | (picked.isnan() & best.isnan()))
            return shares(right.reshape(actual[index].shape), f"is no index of the {self._extreme} value")

        return each(oracle, actual, one)

    @property
    def _extreme(self) -> str:
        return "largest" if self.largest else "smallest"

    @property
    def words(self) -> str:
        return f"any index at which the {self._extreme} value stands is right; NaN counts as the {self._extreme} value"
