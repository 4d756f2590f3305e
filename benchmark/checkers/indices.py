"""Indices of an extremum, where several may be right, alone or behind the extreme values."""

from dataclasses import dataclass

import torch

from benchmark.checkers.close import Budget, close
from benchmark.checkers.form import each
from benchmark.checkers.pieces import compare
from benchmark.checkers.same import equal, shares
from benchmark.task import Arguments, Check, Oracle

Tensor = torch.Tensor


@dataclass(frozen=True)
class ties:
    """Any index that attains the extremum along the axis is right. NaN counts as the extremum, as in torch."""

    values: str = "input"
    """The argument that is searched."""
    axis: str = "dim"
    """The argument that holds the axis, None for the flattened tensor."""
    largest: bool = True
    valued: bool = False
    """Whether the operator returns (values, indices); values must be equal to the extremum."""

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        values, dim = along(arguments[self.values], arguments.get(self.axis))
        best = extremum(values, dim, self.largest)

        def one(index: int) -> Check:
            if self.valued and index == 0:
                return equal(oracle.honest[0], actual[0])
            picked, inside = at(values, dim, actual[index].reshape(best.shape))
            right = inside & ((picked == best) | (picked.isnan() & best.isnan()))
            return shares(right.reshape(actual[index].shape), f"is no index of the {_extreme(self.largest)} value")

        return each(oracle, actual, one)

    @property
    def words(self) -> str:
        name = _extreme(self.largest)
        values = f"the {name} values must be equal to the reference's, and " if self.valued else ""
        return f"{values}any index at which the {name} value stands is right; NaN counts as the {name} value"


@dataclass(frozen=True)
class nearly_ties:
    """Extremum and index of values that the operator computes itself; `Task.truth` gives all of these in fp64.

    The extremum must be `close`. Rounding may prefer another element whose true value is within twice that tolerance."""

    axis: str = "dim"
    """The argument that holds the axis; for None all values are searched, and the operator returns the extremum alone."""
    largest: bool = False

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        values, dim = along(oracle.expected[0], arguments.get(self.axis))
        best = extremum(values, dim, self.largest)
        honest = oracle.honest[0].reshape(best.shape)
        budget = Budget(best, honest, None, None, close())

        def one(index: int) -> Check:
            if index == 0:
                return compare(best.to(honest.dtype), actual[0].reshape(best.shape), best, budget.tolerance)
            picked, inside = at(values, dim, actual[index].reshape(best.shape))
            allowed = 2 * budget.multiple * budget.eps * torch.maximum(best.abs(), budget.typical)
            right = inside & (((picked - best).abs() <= allowed) | (picked == best) | (picked.isnan() & best.isnan()))
            return shares(right.reshape(actual[index].shape), f"is no index of the {_extreme(self.largest)} value")

        return each(oracle, actual, one)

    @property
    def words(self) -> str:
        name = _extreme(self.largest)
        return (
            f"the {name} values are compared with an fp64 oracle within a few roundings in the output's dtype; an index is right where "
            f"the true value is within twice that of the {name} one; NaN counts as the {name} value"
        )


def along(values: Tensor, dim: int | None) -> tuple[Tensor, int]:
    return (values.reshape(-1), 0) if dim is None else (values, dim)


def extremum(values: Tensor, dim: int, largest: bool) -> Tensor:
    return values.amax(dim, keepdim=True) if largest else values.amin(dim, keepdim=True)


def at(values: Tensor, dim: int, found: Tensor) -> tuple[Tensor, Tensor]:
    """The values at indices, and whether these are indices of the axis at all."""
    inside = (found >= 0) & (found < values.shape[dim])
    return values.gather(dim, torch.where(inside, found, 0)), inside


def _extreme(largest: bool) -> str:
    return "largest" if largest else "smallest"
