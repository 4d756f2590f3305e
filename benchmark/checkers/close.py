"""Floating-point results: within the rounding of an honest computation in the output's own dtype."""

from dataclasses import dataclass

import torch

from benchmark.checkers.form import each
from benchmark.checkers.pieces import Part, compare, pieces
from benchmark.checkers.same import equal
from benchmark.precision import BITS, LOWER, eps
from benchmark.task import Arguments, Check, Oracle

Tensor = torch.Tensor


@dataclass(frozen=True)
class close:
    """All elements within `m * eps(dtype) * max(|expected|, mean|expected|) + terms * eps(fp32) * magnitude` of the fp64 oracle.

    The mean is over `axis` (a number, or the name of the argument that holds it; the whole tensor without), and `magnitude`
    is the sum of the absolute terms, where the task gives it. `m` is `slack` times the largest error of the honest
    computation in units of eps, `slack` at least, and at most 3/8 of a step of the next lower precision, which must fail.
    Integers and booleans must be equal; complex numbers are compared by their parts (the magnitude is then complex too). NaN and
    infinities must stand where the oracle, rounded to the dtype, has them.

    With `relative` the mean does not count: each element is measured by its own size alone, for functions that nothing cancels in.
    What is below the smallest normal number of the dtype may be flushed to 0.

    A `measured` magnitude (`benchmark.measured`) is the root of the sum of the squared terms. It knows of the inputs' terms only, and the
    honest error counts in full beside it.
    """

    axis: int | str | None = None
    slack_wide: float = 16.0
    """For fp64 and fp32, whose next lower precision is thousands of eps away."""
    slack_half: float = 2.0
    """For fp16 and bf16, where it is 8 and 16 eps away."""
    terms: float = 4.0
    relative: bool = False
    """Whether an element's own size alone counts, not the mean one."""
    measured: bool = False

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        axis = arguments[self.axis] if isinstance(self.axis, str) else self.axis

        def one(index: int) -> Check:
            magnitude = real(oracle.magnitude[index]) if oracle.magnitude else None
            honest, expected, own = (real(tensor) for tensor in (oracle.honest[index], oracle.expected[index], actual[index]))
            if honest.dtype not in BITS:
                return equal(expected, own)
            budget = Budget(expected, honest, magnitude, axis, self)
            return compare(expected.to(honest.dtype), own, expected, budget.tolerance)

        return each(oracle, actual, one)

    @property
    def words(self) -> str:
        scale = "each error measured by the element's own size, " if self.relative else ""
        return (
            f"compared element by element with an fp64 oracle, {scale}within a few roundings of an honest computation in the output's "
            "dtype that keeps intermediate results in fp32 (a computation in the next lower precision fails); NaN and infinities stand "
            "where the oracle has them, and zeros of either sign are equal"
        )


class Budget:
    """The tolerance of `close` for one output, piece by piece."""

    def __init__(self, expected: Tensor, honest: Tensor, magnitude: Tensor | None, axis: int | None, rule: close):
        self.eps = eps(honest.dtype)
        self.smallest = torch.finfo(honest.dtype).tiny if rule.relative else None
        self.typical = typical(expected, axis, honest.dtype)
        self.magnitude = magnitude
        self.measured = rule.measured
        self.per_term = rule.terms * min(self.eps, eps(torch.float32))
        slack = rule.slack_wide if self.eps <= eps(torch.float32) else rule.slack_half
        ceiling = 0.375 * 2 ** (BITS[honest.dtype] - LOWER[honest.dtype])
        self.multiple = min(slack * max(1.0, self._honest_units(expected, honest)), ceiling)

    def _honest_units(self, expected: Tensor, honest: Tensor) -> float:
        """The largest error of the honest computation in units of eps, beyond what the terms that a task gives allow."""
        worst = 0.0
        for truth, own, part in pieces(expected, honest):
            error = (own.double() - truth).abs() - (0.0 if self.measured else self._terms(part))
            units = error / self._unit(truth, part)
            worst = max(worst, float(torch.where(units.isfinite(), units, 0.0).max()))
        return worst

    def _unit(self, truth: Tensor, part: Part) -> Tensor:
        if self.smallest is not None:
            return torch.where(truth.abs() < self.smallest, self.smallest, self.eps * truth.abs())
        return self.eps * torch.maximum(truth.abs(), part(self.typical))

    def _terms(self, part: Part) -> Tensor | float:
        return 0.0 if self.magnitude is None else self.per_term * part(self.magnitude)

    def tolerance(self, truth: Tensor, part: Part) -> Tensor:
        return self.multiple * self._unit(truth, part) + self._terms(part)


def real(tensor: Tensor) -> Tensor:
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def typical(expected: Tensor, axis: int | None, dtype: torch.dtype) -> Tensor:
    """mean|expected| over `axis`, or over everything; NaN, infinities, and what is infinite in `dtype` count as zero."""
    if expected.numel() == 0:
        return expected.new_zeros(1)
    axis = None if axis is None or expected.dim() == 0 else axis % expected.dim()
    sums = [
        torch.linalg.vector_norm(piece.where(piece.to(dtype).isfinite(), 0.0), ord=1, dim=axis, keepdim=axis is not None)
        for piece, _ in pieces(expected)
    ]
    if axis is None:
        return (torch.stack(sums).sum() / expected.numel()).reshape(1)
    return (torch.cat(sums) if axis else torch.stack(sums).sum(0)) / expected.shape[axis]
