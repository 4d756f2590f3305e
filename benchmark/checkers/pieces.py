"""Comparison of large tensors piece by piece, so that the fp64 temporaries stay near 100 MiB."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from benchmark.checkers.form import percent
from benchmark.task import Check

Tensor = torch.Tensor
CHUNK = 1 << 22
"""Elements in a piece."""


@dataclass(frozen=True)
class Part:
    """Some rows of a shape; called on a tensor that expands to that shape, it cuts them out."""

    shape: torch.Size
    start: int
    count: int

    def __call__(self, tensor: Tensor) -> Tensor:
        return tensor if tensor.numel() == 1 else tensor.expand(self.shape).narrow(0, self.start, self.count)


Tolerance = Callable[[Tensor, Part], Tensor]
"""`tolerance(expected piece, part)`, in the shape of the piece."""


def pieces(*tensors: Tensor) -> Iterator[tuple[Any, ...]]:
    """Rows by rows of tensors of one shape, followed by the `Part` that cuts others alike."""
    if tensors[0].numel() == 0:
        return
    if tensors[0].dim() == 0:
        tensors = tuple(tensor.reshape(1) for tensor in tensors)
    shape = tensors[0].shape
    rows = max(1, CHUNK * shape[0] // tensors[0].numel())
    for start in range(0, shape[0], rows):
        part = Part(shape, start, min(rows, shape[0] - start))
        yield (*(part(tensor) for tensor in tensors), part)


@dataclass
class Tally:
    """What is gathered over the pieces of one comparison."""

    right: int = 0
    total: int = 0
    astray: bool = False
    """Not finite in a place where the truth is."""
    error_squares: float = 0.0
    truth_squares: float = 0.0
    max_abs: float = 0.0
    worst: float = -1.0
    """The largest error in units of its tolerance."""
    worst_at: int = 0
    first_at: int | None = None
    """The first wrong element."""
    tolerance: float = 0.0
    """What is allowed there."""
    found: float = 0.0
    wanted: float = 0.0

    def add(self, rounded: Tensor, actual: Tensor, truth: Tensor, tolerance: Tensor) -> None:
        """One piece in fp64; `rounded` is the truth in the dtype of the output, which may have no room for it."""
        finite = rounded.isfinite() & actual.isfinite()
        error = torch.where(finite, (actual - truth).abs(), 0.0)
        same = (actual == rounded) | (actual.isnan() & rounded.isnan())
        right = torch.where(finite, error <= tolerance, same)
        self.astray |= bool((rounded.isfinite() & ~actual.isfinite()).any())
        self.error_squares += float((error * error).sum())
        self.truth_squares += float(torch.where(finite, truth * truth, 0.0).sum())
        self.max_abs = max(self.max_abs, float(error.max()))
        ratio = torch.where(finite | right, error / tolerance, math.inf).nan_to_num(0.0, math.inf).reshape(-1)
        at = int(ratio.argmax())
        if float(ratio[at]) > self.worst:
            self.worst, self.worst_at = float(ratio[at]), self.total + at
            self.found, self.wanted, self.tolerance = (float(of.expand(right.shape).reshape(-1)[at]) for of in (actual, rounded, tolerance))
        if self.first_at is None and not bool(right.all()):
            self.first_at = self.total + int((~right).reshape(-1).byte().argmax())
        self.right += int(right.sum())
        self.total += right.numel()


def compare(rounded: Tensor, actual: Tensor, truth: Tensor, tolerance: Tolerance) -> Check:
    """`all(|actual - truth| <= tolerance)` where `rounded` is finite; the same infinity, or NaN, elsewhere."""
    tally = Tally()
    for expected, own, exactly, part in pieces(rounded, actual, truth):
        tally.add(expected.double(), own.double(), exactly, tolerance(exactly, part))
    return answer(tally, truth.shape)


def answer(tally: Tally, shape: torch.Size) -> Check:
    if tally.total == 0:
        return Check(True, matched=1.0)
    ok, matched = tally.right == tally.total, tally.right / tally.total
    at, first = place(tally.worst_at, shape), None if tally.first_at is None else place(tally.first_at, shape)
    rms = math.sqrt(tally.error_squares / tally.truth_squares) if tally.truth_squares else None
    worst = f"{tally.found:.6g} where {tally.wanted:.6g} +- {tally.tolerance:.2g} is expected"
    message = "" if ok else f"{percent(1 - matched)} of the elements are wrong; the worst one, at {at}, is {worst}"
    kind = "pass" if ok else "nonfinite" if tally.astray else "wrong_numeric"
    return Check(ok, kind, message, finite(tally.max_abs), finite(rms), at, matched, finite(tally.tolerance), first)


def place(number: int, shape: torch.Size) -> tuple[int, ...]:
    """The index of an element by its number in rows-first order."""
    return tuple(int(position) for position in torch.unravel_index(torch.tensor(number), shape))


def finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
