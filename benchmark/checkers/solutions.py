"""Solutions of linear systems, inverses and pseudoinverses, by their residuals: right up to a backward error, however conditioned."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from benchmark.checkers.factorisation import STABLE
from benchmark.checkers.invariants import Demand, Tensor, eye, invariants, size
from benchmark.task import Arguments, Oracle


@dataclass(frozen=True)
class solution(invariants):
    """`A X = B` by columns: `|B - A x| <= unit * (|A| |x| + |b|)`.

    `Task.truth` returns A and B in fp64, both with two axes at least (a vector b as one column), and where the result is `X + S`, as
    `shifted` says, S as well. A with more rows than columns is solved by least squares: then the residual counts
    within the range of A only.
    """

    shifted: bool = False
    componentwise: bool = False
    """Whether each equation must hold beside its own terms, `|b - A x| <= unit * (|A| |x| + |b|)` row by row, as substitution does."""

    def demands(self, oracle: Oracle, outputs: tuple[Tensor, ...], arguments: Arguments) -> Iterator[Demand]:
        matrix, right = oracle.expected[:2]
        found = outputs[0].reshape(*right.shape[:-2], matrix.shape[-1], right.shape[-1])
        shift = oracle.expected[2].reshape(found.shape) if self.shifted else torch.zeros_like(found)
        found = found - shift
        residual, unit = right - matrix @ found, self.unit(oracle, matrix)
        if self.componentwise:
            terms = matrix.abs() @ (found.abs() + shift.abs()) + right.abs()
            yield Demand("each equation is satisfied beside its terms", residual.abs(), unit * terms, terms)
            return
        allowed = size(matrix).unsqueeze(-1) * (_lengths(found) + _lengths(shift)) + _lengths(right)
        if matrix.shape[-2] > matrix.shape[-1]:
            basis, _ = torch.linalg.qr(matrix)
            values = torch.linalg.svdvals(matrix)
            best = right - basis @ (basis.mH @ right)
            allowed = allowed + (values[..., 0] / values[..., -1]).unsqueeze(-1) * _lengths(best)
            residual = basis.mH @ residual
        yield Demand("the solution satisfies the equations", _lengths(residual), unit * allowed, allowed)

    @property
    def words(self) -> str:
        of = "each equation" if self.componentwise else "each column"
        return f"{of} of the system is satisfied: |b - A x| is small beside |A| |x| + |b|, up to " + STABLE


def _lengths(columns: Tensor) -> Tensor:
    return torch.linalg.vector_norm(columns, dim=-2)


@dataclass(frozen=True)
class inverse(invariants):
    """`A X = 1` or `X A = 1`, whichever comes closer, within `unit * |A| |X|`."""

    def demands(self, oracle: Oracle, outputs: tuple[Tensor, ...], arguments: Arguments) -> Iterator[Demand]:
        matrix, found = self.given(arguments), outputs[0]
        one = eye(matrix, matrix.shape[-1])
        error = torch.minimum(size(matrix @ found - one), size(found @ matrix - one))
        scale = size(matrix) * size(found)
        # So large a residual would be that of nothing.
        allowed = (self.unit(oracle, matrix) * scale).clamp(max=0.1)
        yield Demand("the product with the matrix is the identity", error, allowed, scale)

    @property
    def words(self) -> str:
        return "A X or X A is the identity: the residual is small beside |A| |X|, up to " + STABLE


@dataclass(frozen=True)
class pseudoinverse(invariants):
    """The four conditions of Moore and Penrose for A, which `Task.truth` returns: where singular values are cut off, without them."""

    def demands(self, oracle: Oracle, outputs: tuple[Tensor, ...], arguments: Arguments) -> Iterator[Demand]:
        matrix, found = oracle.expected[0], outputs[0]
        unit, norm, other = self.unit(oracle, matrix), size(matrix), size(found)
        left, right = matrix @ found, found @ matrix
        yield Demand("A X A is A", size(left @ matrix - matrix), unit * norm * (1 + norm * other), norm)
        yield Demand("X A X is X", size(right @ found - found), unit * other * (1 + norm * other), other)
        for product, words in ((left, "A X is Hermitian"), (right, "X A is Hermitian")):
            yield Demand(words, size(product - product.mH), unit * norm * other)

    @property
    def words(self) -> str:
        return "A X A = A, X A X = X, and A X and X A are Hermitian (A without the singular values that are cut off), up to " + STABLE
