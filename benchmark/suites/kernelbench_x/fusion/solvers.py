"""Fusion of KernelBench-X: solvers through a factorisation, and a matrix put together from its own.

Budgets are componentwise: what backward stable solutions are off by grows with the condition of the matrix, which the magnitudes say.
"""

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed, without
from benchmark.task import Contract, Task, hidden, shown, timed

FP32, FP64 = torch.float32, torch.float64
CONDITION = (
    "The tolerance of a solution grows with the condition of the matrix, |A^-1| (|A| |x| + |b|): any backward stable algorithm passes."
)


def fused_cholesky_solve(A: Tensor, b: Tensor) -> Tensor:
    """The solution x of `A x = b` for a symmetric positive definite `A` (n, n) and `b` (n, k), through the Cholesky factor: with
    `A = L L^T`, `L y = b` is solved forwards, then `L^T x = y` backwards."""
    factor = torch.linalg.cholesky(A)
    halfway = torch.linalg.solve_triangular(factor, b, upper=False)
    return torch.linalg.solve_triangular(factor.mT, halfway, upper=True)


def half_solved(A: Tensor, b: Tensor) -> Tensor:
    return torch.linalg.solve_triangular(torch.linalg.cholesky(A), b, upper=False)


def fused_lu_solve(A: Tensor, b: Tensor) -> Tensor:
    """The solution x (n) of `A x = b` for a square, invertible `A` (n, n) and a vector `b` (n), through the LU factors with partial
    pivoting: with `A = P L U`, `L y = P^T b` is solved forwards, then `U x = y` backwards."""
    factors, pivots = torch.linalg.lu_factor(A)
    return torch.linalg.lu_solve(factors, pivots, b.unsqueeze(1)).squeeze(1)


def permutation_left_out(A: Tensor, b: Tensor) -> Tensor:
    _, lower, upper = torch.linalg.lu(A)
    return torch.linalg.solve(lower @ upper, b)


def fused_qr_solve(A: Tensor, b: Tensor) -> Tensor:
    """The x (n, k) that minimises `|A x - b|` for an `A` (m, n) of full rank with m >= n, and `b` (m, k): the solution of
    `A x = b` where A is square, and the least-squares solution of each column where it is tall. Through the QR factors: with
    `A = Q R` it is the x of `R x = Q^T b`."""
    orthogonal, upper = torch.linalg.qr(A)
    return torch.linalg.solve_triangular(upper, orthogonal.mT @ b, upper=True)


def first_rows(A: Tensor, b: Tensor) -> Tensor:
    """Solves the first n equations, and forgets the others."""
    return torch.linalg.solve(A[: A.shape[1]], b[: A.shape[1]])


def solution_terms(A: Tensor, b: Tensor) -> Tensor:
    inverse = torch.linalg.inv(A)
    x = inverse @ b
    return inverse.abs() @ (A.abs() @ x.abs() + b.abs())


def least_squares_terms(A: Tensor, b: Tensor) -> Tensor:
    """What changes of A and b in proportion to their elements do to x (Bjorck's bound)."""
    inverse = torch.linalg.pinv(A)
    x = inverse @ b
    residual = (b - A @ x).abs()
    return inverse.abs() @ (A.abs() @ x.abs() + b.abs()) + (inverse @ inverse.mT).abs() @ (A.abs().mT @ residual)


def fused_svd_reconstruct(A: Tensor) -> Tensor:
    """`U diag(S) V^T` for the reduced singular value decomposition `A = U diag(S) V^T` of a matrix (m, n), which is A itself up to
    rounding."""
    left, values, right = torch.linalg.svd(A, full_matrices=False)
    return (left * values) @ right


def largest_value_left_out(A: Tensor) -> Tensor:
    left, values, right = torch.linalg.svd(A, full_matrices=False)
    return (left * without(values, 0, 0)) @ right


def values_squared(A: Tensor) -> Tensor:
    left, values, right = torch.linalg.svd(A, full_matrices=False)
    return (left * values.square()) @ right


def definite(draw: Draw, n: int, *, ridge: float = 1.0, dtype: torch.dtype = FP32) -> Tensor:
    """Symmetric to the bit, with eigenvalues from `ridge` to about 4 + `ridge`."""
    root = draw.normal(n, n, dtype=FP64)
    square = root @ root.mT / n
    return ((square + square.mT) / 2 + ridge * torch.eye(n, dtype=FP64, device=draw.device)).to(dtype)


def dominant(draw: Draw, n: int, *, dtype: torch.dtype = FP32) -> Tensor:
    """Well conditioned, and without need of pivots."""
    return draw.normal(n, n, dtype=dtype) + 3 * n**0.5 * torch.eye(n, dtype=dtype, device=draw.device)


def hollow(draw: Draw, n: int) -> Tensor:
    """With zeros on the diagonal: without pivots nothing can be divided by them."""
    return draw.normal(n, n) * (1 - torch.eye(n, device=draw.device))


def graded(draw: Draw, m: int, n: int, *, dtype: torch.dtype = FP32) -> Tensor:
    """Columns of all sizes, from 1 to 1000."""
    return draw.normal(m, n, dtype=dtype) * torch.logspace(0, 3, n, dtype=dtype, device=draw.device)


TASKS = (
    Task(
        "kernelbench_x/fused_cholesky_solve",
        "Fusion",
        "fused",
        fused_cholesky_solve,
        shown({
            "fp32": lambda d: {"A": definite(d, 16), "b": d.normal(16, 3)},
            "fp64": lambda d: {"A": definite(d, 13, dtype=FP64), "b": d.normal(13, 2, dtype=FP64)},
            "one": lambda d: {"A": definite(d, 1), "b": d.normal(1, 1)},
            "odd": lambda d: {"A": definite(d, 23), "b": d.normal(23, 5)},
            "one-column": lambda d: {"A": definite(d, 19), "b": d.normal(19, 1)},
            "ill-conditioned": lambda d: {"A": definite(d, 17, ridge=1e-3), "b": d.normal(17, 2)},
            "large": lambda d: {"A": 1e8 * definite(d, 11), "b": d.normal(11, 3, scale=1e4)},
            "transposed": lambda d: {"A": transposed(definite(d, 14)), "b": transposed(d.normal(14, 7))},
            "many-columns": lambda d: {"A": definite(d, 7), "b": d.normal(7, 33)},
        }) + hidden({
            "strided": lambda d: {"A": strided(definite(d, 12)), "b": strided(d.normal(12, 4))},
            "small": lambda d: {"A": offset(1e-6 * definite(d, 21, ridge=0.1)), "b": offset(d.normal(21, 3))},
            "two": lambda d: {"A": definite(d, 2, ridge=0.5, dtype=FP64), "b": d.normal(2, 1, dtype=FP64)},
        }),
        timed(lambda d, n: {"A": definite(d, n), "b": d.normal(n, 4)}, ((32,), (128,), (512,), (1024,))),
        Contract(close(), notes=(CONDITION,)),
        magnitude=solution_terms,
        wrong={
            "the forward half alone": half_solved,
            "the diagonal alone": lambda A, b: b / A.diagonal()[:, None],
        },
    ),
    Task(
        "kernelbench_x/fused_lu_solve",
        "Fusion",
        "fused",
        fused_lu_solve,
        shown({
            "fp32": lambda d: {"A": d.normal(16, 16), "b": d.normal(16)},
            "fp64": lambda d: {"A": d.normal(13, 13, dtype=FP64), "b": d.normal(13, dtype=FP64)},
            "one": lambda d: {"A": d.normal(1, 1, shift=3), "b": d.normal(1)},
            "dominant": lambda d: {"A": dominant(d, 23), "b": d.normal(23)},
            "zero-diagonal": lambda d: {"A": hollow(d, 11), "b": d.normal(11)},
            "graded": lambda d: {"A": graded(d, 14, 14), "b": d.normal(14)},
            "large": lambda d: {"A": d.normal(12, 12, scale=1e8), "b": d.normal(12, scale=1e4)},
            "transposed": lambda d: {"A": transposed(d.normal(15, 15)), "b": d.normal(15)},
            "outliers": lambda d: {"A": d.outliers(17, 17), "b": d.outliers(17)},
        }) + hidden({
            "strided": lambda d: {"A": strided(dominant(d, 12)), "b": strided(d.normal(12))},
            "small": lambda d: {"A": offset(d.normal(19, 19, scale=1e-6)), "b": offset(d.normal(19))},
            "reversed": lambda d: {"A": dominant(d, 18).flip(0), "b": d.normal(18)},
        }),
        timed(lambda d, n: {"A": dominant(d, n), "b": d.normal(n)}, ((32,), (128,), (512,), (2048,))),
        Contract(close(), notes=(CONDITION,)),
        magnitude=lambda A, b: solution_terms(A, b.unsqueeze(1)).squeeze(1),
        wrong={
            "the permutation left out": permutation_left_out,
            "the transposed matrix": lambda A, b: torch.linalg.solve(A.mT, b),
        },
    ),
    Task(
        "kernelbench_x/fused_qr_solve",
        "Fusion",
        "fused",
        fused_qr_solve,
        shown({
            "fp32": lambda d: {"A": d.normal(32, 16), "b": d.normal(32, 3)},
            "square": lambda d: {"A": dominant(d, 13), "b": d.normal(13, 2)},
            "one": lambda d: {"A": d.normal(1, 1, shift=3), "b": d.normal(1, 1)},
            "one-unknown": lambda d: {"A": d.normal(41, 1), "b": d.normal(41, 4)},
            "odd": lambda d: {"A": d.normal(37, 11), "b": d.normal(37, 5)},
            "consistent": lambda d: {"A": d.normal(29, 7), "b": d.normal(29, 1)},
            "graded": lambda d: {"A": graded(d, 31, 9), "b": d.normal(31, 2)},
            "large": lambda d: {"A": d.normal(23, 12, scale=1e6), "b": d.normal(23, 3, scale=1e6)},
            "transposed": lambda d: {"A": transposed(d.normal(26, 10)), "b": transposed(d.normal(26, 6))},
            "many-columns": lambda d: {"A": d.normal(19, 5), "b": d.normal(19, 33)},
        }) + hidden({
            "strided": lambda d: {"A": strided(d.normal(22, 12)), "b": strided(d.normal(22, 4))},
            "small": lambda d: {"A": offset(d.normal(27, 14, scale=1e-6)), "b": offset(d.normal(27, 3))},
            "zero-diagonal": lambda d: {"A": hollow(d, 11), "b": d.normal(11, 2)},
        }),
        timed(lambda d, m, n: {"A": d.normal(m, n), "b": d.normal(m, 10)}, ((64, 32), (256, 128), (1024, 512), (2048, 1024))),
        Contract(close(), notes=(CONDITION, "A residual that stays counts with the square of the condition.")),
        magnitude=least_squares_terms,
        wrong={
            "the first equations alone": first_rows,
            "A transposed times b": lambda A, b: A.mT @ b,
        },
    ),
    Task(
        "kernelbench_x/fused_svd_reconstruct",
        "Fusion",
        "fused",
        fused_svd_reconstruct,
        shown({
            "fp32": lambda d: {"A": d.normal(16, 16)},
            "fp64": lambda d: {"A": d.normal(13, 9, dtype=FP64)},
            "tall": lambda d: {"A": d.normal(29, 7)},
            "wide": lambda d: {"A": d.normal(5, 31)},
            "low-rank": lambda d: {"A": d.normal(17, 3) @ d.normal(3, 12)},
            "graded": lambda d: {"A": graded(d, 14, 10)},
            "large": lambda d: {"A": d.normal(11, 11, scale=1e12)},
            "transposed": lambda d: {"A": transposed(d.normal(19, 15))},
            "one": lambda d: {"A": d.normal(1, 1)},
            "zero-column": lambda d: {"A": without(d.normal(12, 8), 1, 0, 5)},
        }) + hidden({
            "strided": lambda d: {"A": strided(d.normal(21, 18))},
            "row": lambda d: {"A": offset(d.normal(1, 37, scale=1e-6))},
            "outliers": lambda d: {"A": d.outliers(18, 11)},
        }),
        timed(lambda d, n: {"A": d.normal(n, n)}, ((16,), (64,), (128,), (256,))),
        Contract(close(terms=16.0), notes=("The result is compared with A itself: signs and order of the factors are free.",)),
        truth=lambda A: A.clone(),
        magnitude=lambda A: torch.linalg.matrix_norm(A, 2).expand_as(A),
        wrong={"the largest value left out": largest_value_left_out, "the values squared": values_squared},
        exempt={"input A": "the factors of A make up A again"},
    ),
)  # fmt: skip
