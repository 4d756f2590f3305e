"""Matrices that are right by what must hold of them, within a backward error in the output's dtype."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from benchmark.checkers.form import each
from benchmark.checkers.pieces import finite, place
from benchmark.task import Arguments, Check, Oracle

Tensor = torch.Tensor
GOOD = Check(True, matched=1.0)


@dataclass(frozen=True)
class Demand:
    """What must hold: of each matrix of a batch an error, and what is allowed."""

    words: str
    error: Tensor
    allowed: Tensor | float = 0.0
    relative: Tensor | None = None
    """What the error is measured by, where the numbers are told."""


@dataclass(frozen=True)
class invariants(ABC):
    """The common part: form, finite values, then every demand in turn.

    Errors are norms over a matrix (Frobenius), taken in fp64, and the unit is `slack * eps(dtype) * sqrt(n)` of the norm of what is
    factorised, n its larger side: what a backward stable algorithm needs several times over, and a small part of what inputs rounded
    to the next lower precision show.
    """

    matrix: str = "A"
    """The argument that is factorised."""
    slack: float = 8.0

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        formed = each(oracle, actual, lambda index: _finite(oracle.honest[index], actual[index]))
        if not formed.ok:
            return formed
        outputs = tuple(wide(tensor) for tensor in actual)
        return judged(self.demands(oracle, outputs, arguments))

    @abstractmethod
    def demands(self, oracle: Oracle, outputs: tuple[Tensor, ...], arguments: Arguments) -> Iterator[Demand]:
        """What must hold, told one after another; outputs are in fp64."""

    def unit(self, oracle: Oracle, matrix: Tensor) -> float:
        """The relative error that is allowed of a factorisation of `matrix`."""
        eps = max(torch.finfo(tensor.dtype).eps for tensor in oracle.honest if tensor.dtype.is_floating_point or tensor.is_complex())
        return self.slack * eps * max(1, *matrix.shape[-2:]) ** 0.5

    def given(self, arguments: Arguments) -> Tensor:
        return wide(arguments[self.matrix])


def judged(demands: Iterable[Demand]) -> Check:
    """The first demand that is not met, or else the numbers of the one that is measured."""
    check = GOOD
    for demand in demands:
        allowed = torch.as_tensor(demand.allowed, dtype=demand.error.dtype, device=demand.error.device).expand_as(demand.error)
        right = demand.error <= allowed
        if not bool(right.all()):
            return _broken(demand, allowed, right)
        if demand.relative is not None and demand.error.numel():
            share = (demand.error / demand.relative).nan_to_num(0.0)
            check = replace(check, rel_rms=finite(float(share.max())), tolerance=finite(float(allowed.max())))
    return check


def _broken(demand: Demand, allowed: Tensor, right: Tensor) -> Check:
    excess = torch.where(right, -1.0, (demand.error - allowed).nan_to_num(torch.inf)).reshape(-1)
    at = int(excess.argmax())
    error, most = (float(of.reshape(-1)[at]) for of in (demand.error, allowed))
    where = f" (matrix {place(at, right.shape)})" if right.numel() > 1 else ""
    numbers = f"off by {error:.3g} where {most:.2g} is allowed" if most else f"off by {error:.3g}"
    matched = float(right.double().mean())
    return Check(False, "wrong_numeric", f"not met{where}: {demand.words}; {numbers}", matched=matched, tolerance=finite(most))


def _finite(honest: Tensor, actual: Tensor) -> Check:
    if bool(honest.isfinite().all()) and not bool(actual.isfinite().all()):
        return Check(False, "nonfinite", "an element is not finite", matched=float(actual.isfinite().double().mean()))
    return GOOD


def wide(tensor: Any) -> Tensor:
    """In fp64 or complex128; integers as they are."""
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.double() if tensor.is_floating_point() else tensor


def size(matrix: Tensor) -> Tensor:
    """The Frobenius norm of each matrix, real."""
    return torch.linalg.vector_norm(matrix, dim=(-2, -1))


def eye(like: Tensor, side: int) -> Tensor:
    return torch.eye(side, dtype=like.dtype, device=like.device)


def orthonormal(columns: Tensor, unit: float, name: str) -> Demand:
    count = columns.shape[-1]
    return Demand(f"the {name} are orthonormal", size(columns.mH @ columns - eye(columns, count)), unit * max(1, count) ** 0.5)


def same(product: Tensor, matrix: Tensor, unit: float, words: str, scale: Tensor | None = None) -> Demand:
    """`product` is `matrix` up to the unit of `scale`, the norm of the matrix if not given."""
    norm = size(matrix)
    return Demand(words, size(product - matrix), unit * (norm if scale is None else scale), norm)


def zero(part: Tensor, words: str) -> Demand:
    """Exactly zero."""
    return Demand(words, size(part))
