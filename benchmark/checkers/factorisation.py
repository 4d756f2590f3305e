"""Factorisations by what defines them: signs, phases and the choice among equals are free.

All are called like `factorisation.qr()`, with the name of the matrix argument where it is not "A".
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from benchmark.checkers.invariants import Demand, Tensor, eye, invariants, orthonormal, same, size, wide, zero
from benchmark.task import Arguments, Oracle


@dataclass(frozen=True)
class cholesky(invariants):
    """`A = L L^H`, or `A = U^H U` where the argument `upper` is true; the factor's diagonal is real and positive."""

    def demands(self, oracle: Oracle, outputs: tuple[Tensor, ...], arguments: Arguments) -> Iterator[Demand]:
        matrix, factor = self.given(arguments), outputs[0]
        lower = factor.mH if arguments.get("upper") else factor
        diagonal = lower.diagonal(dim1=-2, dim2=-1)
        yield zero(lower.triu(1), "the factor is triangular, exactly 0 on the other side")
        negative = (-diagonal.real).clamp(min=0).sum(-1)
        yield Demand("the diagonal is real and positive", negative + diagonal.imag.abs().sum(-1) if lower.is_complex() else negative)
        yield same(lower @ lower.mH, matrix, self.unit(oracle, matrix), "the factor times its adjoint is the matrix")

    @property
    def words(self) -> str:
        return "the factor is triangular with a real positive diagonal, and its product with its adjoint is the matrix, up to " + STABLE


@dataclass(frozen=True)
class qr(invariants):
    """`A = Q R`; with the argument `mode` "r" Q is empty, and `R^H R = A^H A`."""

    def demands(self, oracle: Oracle, outputs: tuple[Tensor, ...], arguments: Arguments) -> Iterator[Demand]:
        matrix, (orthogonal, upper) = self.given(arguments), outputs
        unit = self.unit(oracle, matrix)
        yield zero(upper.tril(-1), "R is upper triangular, exactly 0 below the diagonal")
        if arguments.get("mode", "reduced") == "r":
            gram = matrix.mH @ matrix
            yield same(upper.mH @ upper, gram, 2 * unit, "R^H R is A^H A", size(matrix).square())
            return
        yield orthonormal(orthogonal, unit, "columns of Q")
        yield same(orthogonal @ upper, matrix, unit, "Q R is the matrix")

    @property
    def words(self) -> str:
        return "Q has orthonormal columns, R is upper triangular, and Q R is the matrix (signs and phases are free), up to " + STABLE


@dataclass(frozen=True)
class svd(invariants):
    """`A = U diag(S) Vh`."""

    def demands(self, oracle: Oracle, outputs: tuple[Tensor, ...], arguments: Arguments) -> Iterator[Demand]:
        matrix, (left, values, right) = self.given(arguments), outputs
        unit, count = self.unit(oracle, matrix), values.shape[-1]
        rises = values.diff(dim=-1).clamp(min=0).sum(-1)
        yield Demand("the singular values are not negative and come in descending order", rises + (-values).clamp(min=0).sum(-1))
        yield orthonormal(left, unit, "columns of U")
        yield orthonormal(right.mH, unit, "rows of Vh")
        product = (left[..., :count] * values.unsqueeze(-2)) @ right[..., :count, :]
        yield same(product, matrix, unit, "U diag(S) Vh is the matrix")

    @property
    def words(self) -> str:
        return (
            "U has orthonormal columns and Vh orthonormal rows, the singular values are not negative and descend, and the product is the "
            "matrix (signs, phases and the vectors of equal singular values are free), up to " + STABLE
        )


@dataclass(frozen=True)
class eig(invariants):
    """`A V = V diag(values)`, columns of V of norm 1, and the values are those of the oracle as a multiset, in any order.

    A perturbation E moves eigenvalues by cond(V) |E| at most (Bauer and Fike). Vectors of equal eigenvalues are free, but independent
    where those of the oracle are.
    """

    slack: float = 16.0
    """A QR iteration of a matrix without symmetry takes more steps than a factorisation, and each rounds: of 800 drawn matrices a plain one
    exceeded 8 three times, by a third at most."""

    def demands(self, oracle: Oracle, outputs: tuple[Tensor, ...], arguments: Arguments) -> Iterator[Demand]:
        matrix, (values, vectors) = self.given(arguments).to(torch.complex128), outputs
        unit, norm = self.unit(oracle, matrix), size(matrix)
        columns = torch.linalg.vector_norm(matrix @ vectors - vectors * values.unsqueeze(-2), dim=-2)
        yield Demand("A v is lambda v for each pair", columns.amax(-1), unit * norm, norm)
        lengths = torch.linalg.vector_norm(vectors, dim=-2)
        yield Demand("each eigenvector has norm 1", (lengths - 1).abs().amax(-1), unit)
        stretches = torch.linalg.svdvals(oracle.expected[1])
        condition = stretches[..., 0] / stretches[..., -1]
        yield Demand("the eigenvalues are those of the matrix, each as often", apart(values, oracle.expected[0]), unit * condition * norm)
        least = torch.linalg.svdvals(vectors)[..., -1]
        yield Demand("the eigenvectors are independent", (1e-3 * stretches[..., -1] - unit - least).clamp(min=0))

    @property
    def words(self) -> str:
        return (
            "A v = lambda v with |v| = 1 for each pair, and the eigenvalues are right as a multiset (their order, the phases of the "
            "vectors and the basis for equal eigenvalues are free), up to " + STABLE
        )


def apart(left: Tensor, right: Tensor) -> Tensor:
    """How far the worst pair is apart when two lists of numbers are matched, the closest first."""
    distances = (left.unsqueeze(-1) - right.unsqueeze(-2)).abs()
    worst = distances.new_zeros(distances.shape[:-2])
    for _ in range(distances.shape[-1]):
        nearest, column = distances.min(-1)
        # Of the rows left, that of the closest pair.
        row = nearest.argmin(-1, keepdim=True)
        worst = torch.maximum(worst, nearest.gather(-1, row).squeeze(-1))
        taken = column.gather(-1, row)
        distances.scatter_(-2, row.unsqueeze(-1).expand(*row.shape, distances.shape[-1]), torch.inf)
        distances.scatter_(-1, taken.unsqueeze(-2).expand(*taken.shape[:-1], distances.shape[-2], 1), torch.inf)
    return worst


@dataclass(frozen=True)
class lu(invariants):
    """`A = P L U`; `A = L U` and P empty where the argument `pivot` is false."""

    def demands(self, oracle: Oracle, outputs: tuple[Tensor, ...], arguments: Arguments) -> Iterator[Demand]:
        matrix, (permutation, lower, upper) = self.given(arguments), outputs
        pivot = arguments.get("pivot", True)
        if pivot:
            yield permuting(permutation)
        yield zero(lower.triu(1), "L is lower triangular, exactly 0 above the diagonal")
        ones = lower.diagonal(dim1=-2, dim2=-1) - 1
        yield Demand("the diagonal of L is exactly 1", torch.linalg.vector_norm(ones, dim=-1))
        yield zero(upper.tril(-1), "U is upper triangular, exactly 0 below the diagonal")
        unit = self.unit(oracle, matrix)
        if pivot:
            # LAPACK compares complex numbers by |re| + |im|.
            most = 2**0.5 if lower.is_complex() else 1.0
            excess = (lower.abs() - most).clamp(min=0).sum((-2, -1))
            yield Demand("no element of L is larger than 1: the pivot is the largest of its column", excess, unit)
        product = permutation @ lower @ upper if pivot else lower @ upper
        # Elements may grow on the way, as they do for the oracle.
        growth = size(oracle.expected[1].abs() @ oracle.expected[2].abs())
        yield same(product, matrix, unit, "P L U is the matrix" if pivot else "L U is the matrix", torch.maximum(growth, size(matrix)))

    @property
    def words(self) -> str:
        return (
            "P is a permutation matrix, L lower triangular with a diagonal of ones and no element above 1 (any of several largest pivots "
            "is right), U upper triangular, and P L U is the matrix (without pivots P is empty and L U is it), up to " + STABLE
        )


def permuting(matrix: Tensor) -> Demand:
    """A permutation matrix: zeros, and a one in each row and column."""
    other = torch.minimum(matrix.abs(), (matrix - 1).abs()).sum((-2, -1))
    sums = sum((matrix.abs().sum(axis) - 1).abs().sum(-1) for axis in (-1, -2))
    return Demand("P is a permutation matrix", other + sums)


@dataclass(frozen=True)
class ldl(invariants):
    """`A = L D L^T` (`L D L^H` where the argument `hermitian` is true) in LAPACK's format of sytrf and hetrf, lower triangle.

    LD holds D on its diagonal (and below it in blocks of two) and the columns of L below; pivots count from 1: at a block of one,
    `pivots[k]` is the row that was exchanged with k; at a block of two both pivots are minus the row exchanged with the second one.
    """

    def demands(self, oracle: Oracle, outputs: tuple[Tensor, ...], arguments: Arguments) -> Iterator[Demand]:
        matrix, (compact, pivots) = self.given(arguments), outputs
        adjoint = bool(arguments.get("hermitian")) and matrix.is_complex()
        side = matrix.shape[-1]
        flat = zip(compact.reshape(-1, side, side), pivots.reshape(-1, side).tolist(), strict=True)
        parts = [unpacked(one, list(own), adjoint) for one, own in flat]
        bad = torch.tensor([float(part is None) for part in parts], device=matrix.device, dtype=torch.float64)
        yield Demand("the pivots are rows that may be exchanged, in LAPACK's format", bad)
        whole = torch.stack([part for part in parts if part is not None]).reshape(matrix.shape) if parts else matrix
        yield same(whole, matrix, self.unit(oracle, matrix), "the factors that LD and pivots hold give the matrix")

    @property
    def words(self) -> str:
        return (
            "LD and pivots are read in LAPACK's format (sytrf or hetrf, lower triangle; what stands above the diagonal is not looked at), "
            "and their product L D L^T (L D L^H if hermitian) is the matrix, with any admissible choice of pivots, up to " + STABLE
        )


def unpacked(compact: Tensor, pivots: list[int], adjoint: bool) -> Tensor | None:
    """The matrix whose factors LD and pivots hold; None where the pivots are not admissible."""
    starts = blocks(pivots)
    if starts is None:
        return None
    side = len(pivots)
    factor, middle = eye(compact, side), torch.zeros_like(compact)
    for start, width in reversed(starts):
        end = start + width
        inner = compact[start:end, start:end].tril()
        below = inner.tril(-1)
        middle[start:end, start:end] = inner + (below.mH if adjoint else below.mT)
        factor[end:] += compact[end:, start:end] @ factor[start:end]
        row, other = end - 1, abs(pivots[start]) - 1
        factor[[row, other]] = factor[[other, row]]
    return factor @ middle @ (factor.mH if adjoint else factor.mT)


def blocks(pivots: list[int]) -> list[tuple[int, int]] | None:
    """Start and width of the blocks of D; None where the pivots are not in LAPACK's format."""
    found, start, side = [], 0, len(pivots)
    while start < side:
        width = 1 if pivots[start] > 0 else 2
        twins = pivots[start : start + width]
        if len(twins) < width or len(set(twins)) > 1 or not start + width <= abs(twins[0]) <= side:
            return None
        found.append((start, width))
        start += width
    return found


STABLE = "the backward error of a stable algorithm in the dtype; inputs rounded to the next lower precision fail"
__all__ = ["STABLE", "cholesky", "eig", "ldl", "lu", "qr", "svd", "wide"]
