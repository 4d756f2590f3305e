"""LinearAlgebra of KernelBench-X: factorisations, each right by what defines it."""

import torch
from torch import Tensor

from benchmark.checkers import factorisation
from benchmark.draw import offset, strided, transposed
from benchmark.suites.kernelbench_x._out import nothing
from benchmark.suites.kernelbench_x.linear_algebra._matrices import (
    BATCHES,
    C64,
    C128,
    FP64,
    SMALL,
    dependent,
    dominant,
    graded,
    hermitian,
    lu_factors,
    positive,
    rotation,
    spectrum,
    symmetric,
)
from benchmark.task import Contract, Task, hidden, shown, timed

Pair = tuple[Tensor, Tensor]
Triple = tuple[Tensor, Tensor, Tensor]


def cholesky(A: Tensor, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """The lower triangular factor L of `A = L L^H` with a real positive diagonal, or with `upper` the factor U = L^H of
    `A = U^H U`; zeros on the other side. A is one positive definite matrix or a batch `(*, n, n)`, real symmetric or complex
    Hermitian, and both its triangles are given. A given `out` receives the result and is returned."""
    return torch.linalg.cholesky(A, upper=upper, out=out)


def unit_cholesky(A: Tensor, upper: bool = False, out: Tensor | None = None) -> Tensor:
    """Without the square root of the diagonal, as in L D L^H."""
    factor = torch.linalg.cholesky(A)
    factor = factor / factor.diagonal(dim1=-2, dim2=-1).unsqueeze(-2)
    return factor.mH if upper else factor


def qr(A: Tensor, mode: str = "reduced", out: Pair | None = None) -> Pair:
    """`(Q, R)` with `A = Q R`, A `(*, m, n)` real, Q with orthonormal columns and R upper triangular with zeros below its diagonal.
    With k = min(m, n): mode "reduced" gives Q `(*, m, k)` and R `(*, k, n)`, "complete" Q `(*, m, m)` and R `(*, m, n)`, "r" an
    empty Q (of shape `(0,)`) and R `(*, k, n)`. Signs are free: rows of R may be negated together with columns of Q. `out` is always
    None here."""
    orthogonal, upper = torch.linalg.qr(A, mode=mode)
    return orthogonal, upper


def qr_by_cholesky(A: Tensor, mode: str = "reduced", out: Pair | None = None) -> Pair:
    """Through A^T A, which squares the condition."""
    if mode == "complete" or A.shape[-2] < A.shape[-1]:
        return qr(A, mode)
    upper = torch.linalg.cholesky_ex(A.mT @ A, upper=True)[0]
    return (A.new_empty(0) if mode == "r" else torch.linalg.solve_triangular(upper, A, upper=True, left=False)), upper


def svd(A: Tensor, full_matrices: bool = True) -> Triple:
    """`(U, S, Vh)` with `A = U diag(S) Vh` for real A `(*, m, n)`: S `(*, k)`, k = min(m, n), not negative and in descending order; U
    `(*, m, m)` and Vh `(*, n, n)` orthogonal, or without `full_matrices` U `(*, m, k)` with orthonormal columns and Vh `(*, k, n)` with
    orthonormal rows. Signs are free, and so are the vectors of equal singular values and those beyond the k-th."""
    left, values, right = torch.linalg.svd(A, full_matrices=full_matrices)
    return left, values, right


def untransposed_svd(A: Tensor, full_matrices: bool = True) -> Triple:
    left, values, right = svd(A, full_matrices)
    return left, values, right.mT.contiguous() if right.shape[-1] == right.shape[-2] else -right


def squared_svd(A: Tensor, full_matrices: bool = True) -> Triple:
    """The eigenvalues of A^T A."""
    left, values, right = svd(A, full_matrices)
    return left, values * values, right


def eig(A: Tensor) -> Pair:
    """`(values, vectors)` of square matrices A `(*, n, n)`, real or complex: complex eigenvalues `(*, n)` in any order, each as often as
    its multiplicity, and in the columns of `vectors` `(*, n, n)` an eigenvector of norm 1 for each, `A v = lambda v`. Both are complex
    in the precision of A, for real A too. Phases are free, and so is the basis of the space of a repeated eigenvalue."""
    # On a GPU torch overwrites a matrix that is stored column by column.
    values, vectors = torch.linalg.eig(A.clone())
    return values, vectors


def one_vector_twice(A: Tensor) -> Pair:
    values, vectors = eig(A)
    return torch.cat([values[..., :1], values[..., :-1]], -1), torch.cat([vectors[..., :1], vectors[..., :-1]], -1)


def lu(A: Tensor, pivot: bool = True, out: Triple | None = None) -> Triple:
    """`(P, L, U)` with `A = P L U`, A `(*, m, n)` real, k = min(m, n): P `(*, m, m)` a permutation matrix of A's dtype, L `(*, m, k)` lower
    triangular with ones on its diagonal and nothing larger than 1 below (partial pivoting by rows), U `(*, k, n)` upper triangular;
    zeros elsewhere. With `pivot` False rows are not exchanged, P is empty (of shape `(0,)`), and `A = L U`. `out` is always None here."""
    return lu_factors(A, pivot)


def inverted_lu(A: Tensor, pivot: bool = True, out: Triple | None = None) -> Triple:
    """With the permutation that takes rows of A to those of L U."""
    permutation, lower, upper = lu_factors(A, pivot)
    return permutation.mT.contiguous() if pivot else permutation, lower, upper


def unpivoted(A: Tensor, pivot: bool = True, out: Triple | None = None) -> Triple:
    _, lower, upper = lu_factors(A, False)
    side = torch.eye(A.shape[-2], dtype=A.dtype, device=A.device).expand(*A.shape[:-1], A.shape[-2])
    return side.clone() if pivot else A.new_empty(0), lower, upper


def ldl_factor(A: Tensor, hermitian: bool = False, out: Pair | None = None) -> Pair:
    """`(LD, pivots)`: the compact factorisation `A = L D L^T` of symmetric A `(*, n, n)`, real or complex, or with `hermitian`
    `A = L D L^H` of Hermitian A, with D of blocks of one or two rows (Bunch and Kaufman), in LAPACK's format of sytrf and hetrf for
    the lower triangle: LD `(*, n, n)` holds D on the diagonal (and just below it within blocks of two) and the columns of L below
    the blocks; pivots `(*, n)`, int32, count from 1. For a block of one at k, `pivots[k]` is the row exchanged with row k; for a block
    of two at k and k + 1, both pivots are minus the row exchanged with row k + 1. Exchanges are not applied to earlier columns of L. What
    stands above the diagonal of LD is not looked at, and any stable choice of pivots is right. `out` is always None here."""
    # Not every device factorises complex Hermitian matrices.
    place = A.cpu() if hermitian and A.is_complex() else A
    compact, pivots = torch.linalg.ldl_factor(place, hermitian=hermitian and A.is_complex())
    return compact.to(A.device), pivots.to(A.device)


def pivots_from_zero(A: Tensor, hermitian: bool = False, out: Pair | None = None) -> Pair:
    compact, pivots = ldl_factor(A, hermitian)
    return compact, pivots - pivots.sign()


def unpivoted_ldl(A: Tensor, hermitian: bool = False, out: Pair | None = None) -> Pair:
    """Blocks of one and no exchanges."""
    work = A.clone()
    for step in range(A.shape[-1]):
        column = work[..., step + 1 :, step] / work[..., step, None, step]
        other = (column.conj() if hermitian else column) * work[..., step, None, step]
        work[..., step + 1 :, step + 1 :] -= column.unsqueeze(-1) * other.unsqueeze(-2)
        work[..., step + 1 :, step] = column
    return work.tril(), torch.arange(1, A.shape[-1] + 1, dtype=torch.int32, device=A.device).expand(A.shape[:-1]).clone()


TASKS = (
    Task(
        "kernelbench_x/cholesky",
        "LinearAlgebra",
        "torch.linalg",
        cholesky,
        shown({
            "fp32": lambda d: {"A": positive(d, 17, 17)},
            "upper": lambda d: {"A": positive(d, 13, 13), "upper": True},
            "batch": lambda d: {"A": positive(d, 3, 2, 9, 9)},
            "fp64": lambda d: {"A": positive(d, 31, 31, dtype=FP64)},
            "complex64": lambda d: {"A": positive(d, 11, 11, dtype=C64)},
            "complex128-upper": lambda d: {"A": positive(d, 2, 7, 7, dtype=C128), "upper": True},
            "badly-conditioned": lambda d: {"A": spectrum(d, 16, 16, values=(100.0, 30.0, 10.0, 3.0, 1.0))},
            "transposed-tiny": lambda d: {"A": transposed(positive(d, 19, 19, scale=1e-12))},
            "one": lambda d: {"A": d.uniform(4, 1, 1, low=0.5, high=9.0)},
            "out": lambda d: {"A": positive(d, 15, 15), "out": nothing(d, 15, 15)},
        }) + hidden({
            "strided-huge": lambda d: {"A": strided(positive(d, 2, 10, 10, scale=1e12))},
            "complex64-batch": lambda d: {"A": offset(positive(d, 3, 5, 5, dtype=C64))},
            "fp64-upper": lambda d: {"A": spectrum(d, 12, 12, values=(1e4, 1e3, 1.0, 0.1), dtype=FP64), "upper": True},
        }),
        timed(lambda d, batch, n: {"A": positive(d, batch, n, n)}, SMALL),
        Contract(factorisation.cholesky(), mutates=("out",)),
        wrong={
            "the other triangle": lambda A, upper=False, out=None: cholesky(A, not upper),
            "a diagonal of ones": unit_cholesky,
            "not conjugated": lambda A, upper=False, out=None: cholesky(A, upper).conj().resolve_conj(),
        },
    ),
    Task(
        "kernelbench_x/qr",
        "LinearAlgebra",
        "torch.linalg",
        qr,
        shown({
            "fp32": lambda d: {"A": d.normal(17, 17)},
            "tall": lambda d: {"A": d.normal(29, 11)},
            "wide": lambda d: {"A": d.normal(7, 19)},
            "complete": lambda d: {"A": d.normal(2, 13, 5), "mode": "complete"},
            "r": lambda d: {"A": d.normal(23, 9), "mode": "r"},
            "fp64": lambda d: {"A": d.normal(3, 12, 8, dtype=FP64)},
            "badly-conditioned": lambda d: {"A": graded(d, 24, 12, last=1e-6)},
            "zero-column": lambda d: {"A": d.normal(14, 6) * torch.tensor([1, 1, 0, 1, 1, 1], device=d.device)},
            "transposed-tiny": lambda d: {"A": transposed(d.normal(16, 10, scale=1e-9))},
            "one": lambda d: {"A": d.normal(5, 1, 1)},
        }) + hidden({
            "dependent": lambda d: {"A": dependent(d.normal(9, 9)).mT.contiguous()},
            "complete-wide": lambda d: {"A": strided(d.normal(6, 11, scale=1e6)), "mode": "complete"},
            "r-batch": lambda d: {"A": offset(d.outliers(3, 8, 13)), "mode": "r"},
        }),
        timed(lambda d, batch, n: {"A": d.normal(batch, n, n)}, BATCHES),
        Contract(factorisation.qr()),
        wrong={
            "through A^T A": qr_by_cholesky,
            "R negated alone": lambda **a: (qr(**a)[0], -qr(**a)[1]),
        },
    ),
    Task(
        "kernelbench_x/svd",
        "LinearAlgebra",
        "torch.linalg",
        svd,
        shown({
            "fp32": lambda d: {"A": d.normal(13, 13)},
            "tall": lambda d: {"A": d.normal(19, 7)},
            "tall-reduced": lambda d: {"A": d.normal(19, 7), "full_matrices": False},
            "wide": lambda d: {"A": d.normal(6, 17)},
            "wide-reduced": lambda d: {"A": transposed(d.normal(6, 17)), "full_matrices": False},
            "batch": lambda d: {"A": d.normal(3, 2, 9, 5)},
            "fp64": lambda d: {"A": d.normal(12, 10, dtype=FP64)},
            "badly-conditioned": lambda d: {"A": graded(d, 14, 10, last=1e-6), "full_matrices": False},
            "equal-values": lambda d: {"A": 3 * rotation(d, 11, 11).float()},
            "one-column": lambda d: {"A": d.normal(9, 1)},
        }) + hidden({
            "dependent": lambda d: {"A": dependent(d.normal(8, 8))},
            "huge": lambda d: {"A": strided(d.normal(7, 10, scale=1e9)), "full_matrices": False},
            "fp64-outliers": lambda d: {"A": offset(d.outliers(2, 10, 6, dtype=FP64))},
        }),
        timed(lambda d, batch, n: {"A": d.normal(batch, n, n)}, BATCHES),
        Contract(factorisation.svd(slack=16.0)),
        wrong={
            "V in place of its transpose": untransposed_svd,
            "squares of the singular values": squared_svd,
            "ascending": lambda **a: tuple(part.flip(-1 - axis) for part, axis in zip(svd(**a), (0, 0, 1), strict=True)),
        },
    ),
    Task(
        "kernelbench_x/eig",
        "LinearAlgebra",
        "torch.linalg",
        eig,
        shown({
            "fp32": lambda d: {"A": d.normal(13, 13)},
            "batch": lambda d: {"A": d.normal(3, 2, 6, 6)},
            "fp64": lambda d: {"A": d.normal(12, 12, dtype=FP64)},
            "complex64": lambda d: {"A": d.normal(9, 9, dtype=C64)},
            "rotation": lambda d: {"A": rotation(d, 10, 10).float()},
            "repeated": lambda d: {"A": spectrum(d, 12, 12, values=(2.0, 2.0, -1.0, 0.5))},
            "triangular": lambda d: {"A": (d.normal(7, 7) + 3 * torch.diag(torch.arange(7.0, device=d.device))).triu()},
            "transposed-tiny": lambda d: {"A": transposed(d.normal(11, 11, scale=1e-9))},
            "one": lambda d: {"A": d.normal(5, 1, 1)},
        }) + hidden({
            "huge": lambda d: {"A": strided(d.normal(2, 8, 8, scale=1e9))},
            "complex128": lambda d: {"A": offset(d.normal(2, 7, 7, dtype=C128))},
            "dependent": lambda d: {"A": dependent(d.normal(9, 9))},
        }),
        timed(lambda d, batch, n: {"A": d.normal(batch, n, n)}, ((1, 16), (1, 32), (1, 48))),
        Contract(factorisation.eig()),
        wrong={
            "as if symmetric": lambda A: tuple(t.to(torch.promote_types(A.dtype, C64)) for t in torch.linalg.eigh(A)),
            "real parts": lambda A: (eig(A)[0].real.to(eig(A)[0].dtype), eig(A)[1]),
            "one pair twice": one_vector_twice,
        },
    ),
    Task(
        "kernelbench_x/lu",
        "LinearAlgebra",
        "torch.linalg",
        lu,
        shown({
            "fp32": lambda d: {"A": d.normal(17, 17)},
            "tall": lambda d: {"A": d.normal(23, 9)},
            "wide": lambda d: {"A": d.normal(8, 21)},
            "batch": lambda d: {"A": d.normal(3, 2, 9, 9)},
            "fp64": lambda d: {"A": d.normal(13, 13, dtype=FP64)},
            "no-pivots": lambda d: {"A": dominant(d, 15, 15), "pivot": False},
            "no-pivots-fp64": lambda d: {"A": dominant(d, 2, 9, 7, dtype=FP64), "pivot": False},
            "equal-pivots": lambda d: {"A": d.ties(16, 16, levels=2) * 2 - 1},
            "dependent": lambda d: {"A": dependent(d.normal(11, 11))},
            "zeros-on-the-diagonal": lambda d: {"A": d.normal(12, 12).fill_diagonal_(0.0)},
        }) + hidden({
            "transposed-tiny": lambda d: {"A": transposed(d.normal(14, 14, scale=1e-9))},
            "strided-outliers": lambda d: {"A": strided(d.outliers(2, 10, 13))},
            "one": lambda d: {"A": offset(d.normal(5, 1, 1))},
        }),
        timed(lambda d, batch, n: {"A": d.normal(batch, n, n)}, SMALL),
        Contract(factorisation.lu()),
        wrong={
            "P transposed": inverted_lu,
            "never a pivot": unpivoted,
            "U scaled into L": lambda **a: (lu(**a)[0], lu(**a)[1] * 2, lu(**a)[2] / 2),
        },
    ),
    Task(
        "kernelbench_x/ldl_factor",
        "LinearAlgebra",
        "torch.linalg",
        ldl_factor,
        shown({
            "fp32": lambda d: {"A": symmetric(d.normal(17, 17))},
            "batch": lambda d: {"A": symmetric(d.normal(3, 2, 7, 7))},
            "fp64": lambda d: {"A": symmetric(d.normal(13, 13, dtype=FP64))},
            "complex-symmetric": lambda d: {"A": symmetric(d.normal(11, 11, dtype=C64))},
            "complex-hermitian": lambda d: {"A": hermitian(d.normal(11, 11, dtype=C64)), "hermitian": True},
            "hermitian-real": lambda d: {"A": symmetric(d.normal(9, 9)), "hermitian": True},
            "zero-diagonal": lambda d: {"A": symmetric(d.normal(12, 12).fill_diagonal_(0.0))},
            "positive": lambda d: {"A": positive(d, 15, 15)},
            "badly-conditioned": lambda d: {"A": spectrum(d, 14, 14, values=(1e3, -100.0, 1.0, -0.01, 1e-3))},
            "one": lambda d: {"A": d.normal(5, 1, 1)},
        }) + hidden({
            "transposed-tiny": lambda d: {"A": transposed(symmetric(d.normal(10, 10, scale=1e-9)))},
            "complex128-hermitian": lambda d: {"A": hermitian(d.normal(2, 8, 8, dtype=C128)), "hermitian": True},
            "strided-outliers": lambda d: {"A": strided(symmetric(d.outliers(2, 9, 9)))},
        }),
        timed(lambda d, batch, n: {"A": symmetric(d.normal(batch, n, n))}, ((1, 8), (1, 16), (1, 24))),
        Contract(factorisation.ldl()),
        wrong={"pivots from zero": pivots_from_zero, "never a pivot": unpivoted_ldl},
    ),
)  # fmt: skip
