"""LinearAlgebra of KernelBench-X: systems of equations and inverses, right by their residuals."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from benchmark.checkers.solutions import inverse, pseudoinverse, solution
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.suites.kernelbench_x.linear_algebra._matrices import (
    C64,
    C128,
    FP64,
    SMALL,
    dominant,
    graded,
    hermitian,
    lu_factors,
    near_one,
    spectrum,
    symmetric,
)
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed


def is_vector(A: Tensor, B: Tensor) -> bool:
    """Whether B holds vectors rather than matrices, by torch's rule."""
    return B.dim() == 1 or (A.dim() - 1 == B.dim() and B.shape == A.shape[:-1])


def solve(A: Tensor, B: Tensor) -> Tensor:
    """X with `A X = B`, A `(*, n, n)` invertible and real. B is a matrix `(*, n, k)`, or a vector `(n,)`, or a batch of vectors of the
    shape of A without its last axis; batches of A and B broadcast. A is not symmetric, so rows may have to be exchanged."""
    return torch.linalg.solve(A, B)


def equations(A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    right = B.unsqueeze(-1) if is_vector(A, B) else B
    return A, right.expand(*torch.broadcast_shapes(A.shape[:-2], right.shape[:-2]), *right.shape[-2:])


def normal_equations(A: Tensor, B: Tensor) -> Tensor:
    """A^T A X = A^T B, which squares the condition."""
    right = B.unsqueeze(-1) if is_vector(A, B) else B
    found = torch.linalg.solve_ex(A.mT @ A, A.mT @ right)[0]
    return found.squeeze(-1) if is_vector(A, B) else found


def solve_without_pivots(A: Tensor, B: Tensor) -> Tensor:
    right = B.unsqueeze(-1) if is_vector(A, B) else B
    _, lower, upper = lu_factors(A, False)
    found = torch.linalg.solve_triangular(upper, torch.linalg.solve_triangular(lower, right, upper=False), upper=True)
    return found.squeeze(-1) if is_vector(A, B) else found


def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """X `(*, n, k)` with `A X = B` for the positive definite A that is given by its Cholesky factor: `A = L L^H`, or with `upper`, where
    the factor is upper triangular, `A = L^H L`. L is `(*, n, n)`, of which the other triangle is not read, whatever stands there; B is
    `(*, n, k)`. A given `out` receives the result and is returned."""
    return torch.cholesky_solve(B, L, upper=upper, out=out)


def factor(d: Draw, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """A lower triangular factor of positive definite matrices, drawn rather than computed."""
    diagonal = torch.diag_embed(d.uniform(*shape, low=0.7, high=1.5))
    return (d.normal(*shape, shape[-1], dtype=dtype, scale=0.5 / shape[-1] ** 0.5).tril(-1) + diagonal).to(dtype)


def upper(d: Draw, n: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return factor(d, n, dtype=dtype).mT.contiguous()


def falling(d: Draw, n: int, last: float) -> Tensor:
    return torch.logspace(0, math.log10(last), n, device=d.device)


def system(d: Draw, A: Tensor, columns: int, alpha: float, view: Callable[[Tensor], Tensor] = torch.clone) -> Arguments:
    b, y = (view(d.normal(A.shape[0], columns, dtype=A.dtype)) for _ in range(2))
    return {"A": view(A), "b": b, "y": y, "alpha": alpha}


def factored(B: Tensor, L: Tensor, upper: bool = False, out: Tensor | None = None) -> tuple[Tensor, Tensor]:
    return (L.triu().mH @ L.triu() if upper else L.tril() @ L.tril().mH), B


def one_triangle(B: Tensor, L: Tensor, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """Forward substitution alone."""
    return torch.linalg.solve_triangular(L.triu().mH if upper else L.tril(), B, upper=False)


def solve_symmetric_ldl(A: Tensor, b: Tensor, hermitian: bool = False, out: Tensor | None = None) -> Tensor:
    """x `(*, n, k)` with `A x = b` for symmetric A `(*, n, n)`, real or complex, or with `hermitian` for Hermitian A, neither of which
    need be positive definite, through `A = L D L^T` (`L D L^H`) with pivots. b is `(*, n, k)` in A's dtype, which the result keeps. A
    given `out` receives the result and is returned."""
    if A.is_complex() and hermitian:
        # Not every device has this case of ldl_factor.
        return into(torch.linalg.solve(A, b), out)
    compact, pivots = torch.linalg.ldl_factor(A)
    return into(torch.linalg.ldl_solve(compact, pivots, b), out)


def unconjugated(A: Tensor, b: Tensor, hermitian: bool = False, out: Tensor | None = None) -> Tensor:
    """Symmetric where Hermitian is asked for, and the other way about."""
    lower = A.tril(-1)
    return torch.linalg.solve(lower + A.tril().mT if hermitian else lower + A.tril().mH, b)


def diagonal_alone(A: Tensor, b: Tensor, hermitian: bool = False, out: Tensor | None = None) -> Tensor:
    """Only the diagonal of LD is taken for D, and pivots are ignored."""
    compact, _ = torch.linalg.ldl_factor(A.cpu(), hermitian=hermitian)
    lower = compact.tril(-1) + torch.eye(A.shape[-1], dtype=A.dtype)
    middle = torch.diag_embed(compact.diagonal(dim1=-2, dim2=-1))
    return torch.linalg.solve_ex(lower @ middle @ (lower.mH if hermitian else lower.mT), b.cpu())[0].to(b.device)


def solve_and_add_scaled_vector(A: Tensor, b: Tensor, y: Tensor, alpha: float) -> Tensor:
    """`x + alpha * y`, where `A x = b` and A `(n, n)` is upper triangular: its strict lower triangle is not read, whatever stands
    there. b and y are `(n, k)`."""
    return torch.linalg.solve_triangular(A, b, upper=True) + alpha * y


def shifted(A: Tensor, b: Tensor, y: Tensor, alpha: float) -> tuple[Tensor, Tensor, Tensor]:
    return A.triu(), b, alpha * y


def invert_matrix_lu(A: Tensor, *, pivot: bool = True, out: Tensor | None = None) -> Tensor:
    """The inverse of A `(*, n, n)`, real, through `A = P L U`: `U^-1 L^-1 P^T`; with `pivot` False through `A = L U` without exchanging
    rows, which A then allows. A given `out` receives the result and is returned."""
    permutation, lower, upper = lu_factors(A, pivot)
    right = permutation.mT if pivot else torch.eye(A.shape[-1], dtype=A.dtype, device=A.device).expand_as(A)
    return into(torch.linalg.solve_triangular(upper, torch.linalg.solve_triangular(lower, right, upper=False), upper=True), out)


def permuted_inverse(A: Tensor, *, pivot: bool = True, out: Tensor | None = None) -> Tensor:
    """P in place of its transpose."""
    permutation, lower, upper = lu_factors(A, pivot)
    found = torch.linalg.solve_triangular(upper, torch.linalg.inv(lower), upper=True)
    return found @ permutation if pivot else found.mT.contiguous()


def pseudoinverse_svd(A: Tensor, full_matrices: bool = True, rcond: float = 1e-15, out: Tensor | None = None) -> Tensor:
    """The pseudoinverse of Moore and Penrose `(*, n, m)` of real A `(*, m, n)` through its singular values: `V diag(1 / s) U^T` over those
    above `rcond` times the largest one; the others count as zero. `full_matrices` says which decomposition is used inside, and does
    not change the result. A given `out` receives the result and is returned."""
    left, values, right = torch.linalg.svd(A, full_matrices=full_matrices)
    count = values.shape[-1]
    kept = values > rcond * values.amax(-1, keepdim=True)
    scaled = right[..., :count, :].mH * torch.where(kept, 1 / values, 0.0).unsqueeze(-2)
    return into(scaled @ left[..., :count].mH, out)


def truncated(A: Tensor, full_matrices: bool = True, rcond: float = 1e-15, out: Tensor | None = None) -> Tensor:
    """A without what is cut off."""
    left, values, right = torch.linalg.svd(A, full_matrices=False)
    kept = torch.where(values > rcond * values.amax(-1, keepdim=True), values, 0.0)
    return (left * kept.unsqueeze(-2)) @ right


def uncut(A: Tensor, full_matrices: bool = True, rcond: float = 1e-15, out: Tensor | None = None) -> Tensor:
    return pseudoinverse_svd(A, rcond=0.0) if rcond > 1e-15 else pseudoinverse_svd(A, rcond=0.5)


TASKS = (
    Task(
        "kernelbench_x/solve",
        "LinearAlgebra",
        "torch.linalg",
        solve,
        shown({
            "fp32": lambda d: {"A": d.normal(17, 17), "B": d.normal(17, 3)},
            "vector": lambda d: {"A": d.normal(13, 13), "B": d.normal(13)},
            "batch": lambda d: {"A": d.normal(3, 2, 7, 7), "B": d.normal(3, 2, 7, 4)},
            "batch-of-vectors": lambda d: {"A": d.normal(5, 9, 9), "B": d.normal(5, 9)},
            "broadcast": lambda d: {"A": d.normal(11, 11), "B": d.normal(4, 11, 2)},
            "fp64": lambda d: {"A": d.normal(12, 12, dtype=FP64), "B": d.normal(12, 5, dtype=FP64)},
            "badly-conditioned": lambda d: {"A": graded(d, 16, 16, last=1e-5), "B": d.normal(16, 2)},
            "zero-diagonal": lambda d: {"A": d.normal(10, 10).fill_diagonal_(0.0), "B": d.normal(10, 2)},
            "transposed-tiny": lambda d: {"A": transposed(d.normal(14, 14, scale=1e-9)), "B": transposed(d.normal(14, 3))},
            "one": lambda d: {"A": d.normal(6, 1, 1), "B": d.normal(6, 1, 2)},
        }) + hidden({
            "strided-outliers": lambda d: {"A": strided(d.outliers(2, 9, 9)), "B": strided(d.outliers(2, 9, 3))},
            "wide": lambda d: {"A": offset(d.normal(8, 8)), "B": offset(d.normal(8, 37))},
            "fp64-vector": lambda d: {"A": graded(d, 13, 13, dtype=FP64, last=1e-9), "B": d.normal(13, dtype=FP64)},
        }),
        timed(lambda d, batch, n: {"A": d.normal(batch, n, n), "B": d.normal(batch, n, 1)}, SMALL),
        Contract(solution()),
        truth=equations,
        wrong={
            "the transposed system": lambda A, B: solve(A.mT, B),
            "normal equations": normal_equations,
            "never a pivot": solve_without_pivots,
        },
    ),
    Task(
        "kernelbench_x/cholesky_solve",
        "LinearAlgebra",
        "torch",
        cholesky_solve,
        shown({
            "fp32": lambda d: {"B": d.normal(17, 3), "L": factor(d, 17)},
            "upper": lambda d: {"B": d.normal(13, 2), "L": factor(d, 13).mH.contiguous(), "upper": True},
            "batch": lambda d: {"B": d.normal(3, 2, 7, 4), "L": factor(d, 3, 2, 7)},
            "fp64": lambda d: {"B": d.normal(12, 5, dtype=FP64), "L": factor(d, 12, dtype=FP64)},
            "complex64": lambda d: {"B": d.normal(9, 3, dtype=C64), "L": factor(d, 9, dtype=C64)},
            "other-triangle-full": lambda d: {"B": d.normal(11, 2), "L": factor(d, 11) + 9 * d.normal(11, 11).triu(1)},
            "badly-conditioned": lambda d: {"B": d.normal(14, 3), "L": factor(d, 14) * falling(d, 14, 1e-3)},
            "transposed-tiny": lambda d: {"B": transposed(d.normal(15, 4)), "L": transposed(factor(d, 15) * 1e-6)},
            "one": lambda d: {"B": d.normal(5, 1, 3), "L": d.uniform(5, 1, 1, low=0.5, high=2.0)},
            "out": lambda d: {"B": d.normal(8, 3), "L": factor(d, 8), "out": nothing(d, 8, 3)},
        }) + hidden({
            "upper-full": lambda d: {"B": d.normal(10, 2), "L": factor(d, 10).mH + 9 * d.normal(10, 10).tril(-1), "upper": True},
            "strided": lambda d: {"B": strided(d.outliers(2, 9, 5)), "L": strided(factor(d, 2, 9))},
            "complex128-upper": lambda d: {"B": d.normal(7, 2, dtype=C128), "L": factor(d, 7, dtype=C128).mH.resolve_conj(), "upper": True},
        }),
        timed(lambda d, batch, n: {"B": d.normal(batch, n, 8), "L": factor(d, batch, n)}, SMALL),
        Contract(solution(), mutates=("out",)),
        truth=factored,
        wrong={
            "forward substitution alone": one_triangle,
            "the factor's transpose": lambda B, L, upper=False, out=None: cholesky_solve(B, L.mH.resolve_conj(), upper),
            "both triangles read": lambda B, L, upper=False, out=None: torch.linalg.solve(L.mH @ L if upper else L @ L.mH, B),
        },
    ),
    Task(
        "kernelbench_x/solve_symmetric_ldl",
        "LinearAlgebra",
        "torch.linalg",
        solve_symmetric_ldl,
        shown({
            "fp32": lambda d: {"A": symmetric(d.normal(17, 17)), "b": d.normal(17, 1)},
            "batch": lambda d: {"A": symmetric(d.normal(3, 2, 7, 7)), "b": d.normal(3, 2, 7, 4)},
            "fp64": lambda d: {"A": symmetric(d.normal(12, 12, dtype=FP64)), "b": d.normal(12, 3, dtype=FP64)},
            "complex-symmetric": lambda d: {"A": symmetric(d.normal(9, 9, dtype=C64)), "b": d.normal(9, 2, dtype=C64)},
            "complex-hermitian": lambda d: {"A": hermitian(d.normal(9, 9, dtype=C64)), "b": d.normal(9, 2, dtype=C64), "hermitian": True},
            "hermitian-real": lambda d: {"A": symmetric(d.normal(11, 11)), "b": d.normal(11, 2), "hermitian": True},
            "zero-diagonal": lambda d: {"A": symmetric(d.normal(10, 10).fill_diagonal_(0.0)), "b": d.normal(10, 2)},
            "badly-conditioned": lambda d: {"A": spectrum(d, 16, 16, values=(1e3, -100.0, 1.0, -0.01)), "b": d.normal(16, 2)},
            "one": lambda d: {"A": d.normal(6, 1, 1), "b": d.normal(6, 1, 2)},
            "out": lambda d: {"A": symmetric(d.normal(8, 8)), "b": d.normal(8, 3), "out": nothing(d, 8, 3)},
        }) + hidden({
            "transposed-tiny": lambda d: {"A": transposed(symmetric(d.normal(13, 13, scale=1e-9))), "b": transposed(d.normal(13, 3))},
            "complex128": lambda d: {"A": hermitian(d.normal(2, 7, 7, dtype=C128)), "b": d.normal(2, 7, 2, dtype=C128), "hermitian": True},
            "strided-outliers": lambda d: {"A": strided(symmetric(d.outliers(2, 9, 9))), "b": strided(d.normal(2, 9, 3))},
        }),
        timed(lambda d, batch, n: {"A": symmetric(d.normal(batch, n, n)), "b": d.normal(batch, n, 1)}, ((1, 8), (1, 16), (1, 24))),
        Contract(solution(), mutates=("out",)),
        truth=lambda A, b, hermitian=False, out=None: (A, b),
        wrong={"not conjugated": unconjugated, "one block of D": diagonal_alone},
    ),
    Task(
        "kernelbench_x/solve_and_add_scaled_vector",
        "LinearAlgebra",
        "fused",
        solve_and_add_scaled_vector,
        shown({
            "fp32": lambda d: system(d, upper(d, 17), 1, 0.5),
            "columns": lambda d: system(d, upper(d, 13), 5, -2),
            "fp64": lambda d: system(d, upper(d, 29, dtype=FP64), 2, 1.5),
            "lower-triangle-full": lambda d: system(d, upper(d, 11) + 9 * d.normal(11, 11).tril(-1), 2, 1.0),
            "nothing-added": lambda d: system(d, upper(d, 19), 3, 0.0),
            "badly-conditioned": lambda d: system(d, upper(d, 16) * falling(d, 16, 1e-4), 2, 3.0),
            "transposed": lambda d: system(d, upper(d, 15), 4, 0.1, transposed),
            "one": lambda d: system(d, d.uniform(1, 1, low=0.5, high=2.0), 7, 2.5),
        }) + hidden({
            "strided-large": lambda d: system(d, upper(d, 12) * 1e6, 3, -0.75, strided),
            "longer": lambda d: system(d, upper(d, 33), 1, 4.0, offset),
            "fp64-full": lambda d: system(d, upper(d, 14, dtype=FP64) + 9 * d.normal(14, 14, dtype=FP64).tril(-1), 3, -1.5),
        }),
        timed(lambda d, n, k: system(d, upper(d, n), k, 0.5), ((64, 1), (256, 32), (512, 256))),
        Contract(solution(shifted=True, componentwise=True)),
        truth=shifted,
        wrong={
            "lower triangular": lambda A, b, y, alpha: torch.linalg.solve_triangular(A, b, upper=False) + (alpha + 1) * y,
            "the whole matrix": lambda A, b, y, alpha: torch.linalg.solve(A, b) + alpha * y,
            "alpha ignored": lambda A, b, y, alpha: torch.linalg.solve_triangular(A, b, upper=True) + y,
        },
    ),
    Task(
        "kernelbench_x/invert_matrix_lu",
        "LinearAlgebra",
        "torch.linalg",
        invert_matrix_lu,
        shown({
            "fp32": lambda d: {"A": d.normal(17, 17)},
            "batch": lambda d: {"A": d.normal(3, 2, 7, 7)},
            "fp64": lambda d: {"A": d.normal(13, 13, dtype=FP64)},
            "no-pivots": lambda d: {"A": dominant(d, 15, 15), "pivot": False},
            "no-pivots-fp64": lambda d: {"A": dominant(d, 2, 9, 9, dtype=FP64), "pivot": False},
            "badly-conditioned": lambda d: {"A": graded(d, 14, 14, last=1e-3)},
            "zero-diagonal": lambda d: {"A": d.normal(10, 10).fill_diagonal_(0.0)},
            "transposed-tiny": lambda d: {"A": transposed(d.normal(11, 11, scale=1e-9))},
            "one": lambda d: {"A": d.normal(6, 1, 1)},
            "out": lambda d: {"A": d.normal(9, 9), "out": nothing(d, 9, 9)},
        }) + hidden({
            "strided": lambda d: {"A": strided(d.normal(2, 9, 9))},
            "two": lambda d: {"A": d.normal(7, 2, 2, scale=1e6)},
            "fp64-badly-conditioned": lambda d: {"A": offset(graded(d, 12, 12, dtype=FP64, last=1e-5))},
        }),
        timed(lambda d, batch, n: {"A": near_one(d, batch, n, n)}, SMALL),
        Contract(inverse(), mutates=("out",)),
        wrong={
            "P in place of its transpose": permuted_inverse,
            "the transposed inverse": lambda A, *, pivot=True, out=None: invert_matrix_lu(A.mT, pivot=pivot) * (1 + 1e-3),
        },
    ),
    Task(
        "kernelbench_x/pseudoinverse_svd",
        "LinearAlgebra",
        "torch.linalg",
        pseudoinverse_svd,
        shown({
            "fp32": lambda d: {"A": d.normal(13, 13)},
            "tall": lambda d: {"A": d.normal(19, 7)},
            "wide-reduced": lambda d: {"A": d.normal(6, 17), "full_matrices": False},
            "batch": lambda d: {"A": d.normal(3, 2, 9, 5)},
            "fp64": lambda d: {"A": d.normal(12, 10, dtype=FP64)},
            "cut": lambda d: {"A": graded(d, 12, 9, last=0.05), "rcond": 0.31},
            "low-rank": lambda d: {"A": spectrum(d, 12, 12, values=(3.0, 1.0, 0.0)), "rcond": 1e-2},
            "low-rank-fp64": lambda d: {
                "A": spectrum(d, 10, 10, values=(3.0, -1.0, 0.0), dtype=FP64), "rcond": 1e-5, "full_matrices": False,
            },
            "one-column": lambda d: {"A": d.normal(9, 1)},
            "out": lambda d: {"A": d.normal(8, 5), "out": nothing(d, 5, 8)},
        }) + hidden({
            "transposed-tiny": lambda d: {"A": transposed(d.normal(9, 6, scale=1e-9))},
            "strided-large": lambda d: {"A": strided(d.normal(5, 11, scale=1e6)), "rcond": 1e-4},
            "cut-fp64": lambda d: {"A": offset(graded(d, 2, 7, 10, dtype=FP64, last=0.01)), "rcond": 0.04},
        }),
        timed(lambda d, batch, n: {"A": d.normal(batch, 2 * n, n)}, ((1, 16), (4, 16), (8, 32))),
        Contract(pseudoinverse(matrix="A"), mutates=("out",)),
        truth=truncated,
        wrong={"rcond taken otherwise": uncut, "the transpose": lambda A, **a: A.mT.contiguous()},
    ),
)  # fmt: skip
