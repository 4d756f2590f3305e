"""LinearAlgebra of KernelBench-X: determinants, within the first-order effect of a backward error."""

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.suites.kernelbench_x.linear_algebra._matrices import FP64, dependent, dominant, lu_factors, near_one, rotation, with_matrix
from benchmark.task import Arguments, Contract, Maker, Task, hidden, shown, timed

NOTES = (
    "What counts is the error beside the sum of |A[i, j]| |C[i, j]| over all elements, C being the cofactors: a determinant that is small "
    "because terms cancel need not be exact in its last digits.",
)
SIZES = ((1, 16), (64, 32), (1024, 32))


def det(A: Tensor) -> Tensor:
    """The determinant of a real square matrix `(n, n)`, or of each of a batch `(*, n, n)`: a tensor of shape `(*)`. 0 for a singular
    matrix, up to rounding."""
    return torch.linalg.det(A)


def determinant_lu(A: Tensor, *, pivot: bool = True, out: Tensor | None = None) -> Tensor:
    """The determinant of real A `(*, n, n)`, of shape `(*)`, through `A = P L U`: the product of U's diagonal, with the sign of the
    permutation; with `pivot` False through `A = L U` without exchanging rows, which A then allows. A given `out` receives the result
    and is returned."""
    _, _, upper = lu_factors(A, pivot)
    value = torch.linalg.det(A) if pivot else upper.diagonal(dim1=-2, dim2=-1).prod(-1)
    return into(value, out)


def determinant_via_qr(A: Tensor, *, mode: str = "reduced", out: Tensor | None = None) -> Tensor:
    """The determinant of real A `(*, n, n)`, of shape `(*)`, through `A = Q R`: the determinant of Q, which is 1 or -1, times the product
    of R's diagonal. `mode` ("reduced" or "complete") says which decomposition is used inside, and does not change the result. A given
    `out` receives the result and is returned."""
    orthogonal, upper = torch.linalg.qr(A, mode=mode)
    return into(torch.linalg.det(orthogonal) * upper.diagonal(dim1=-2, dim2=-1).prod(-1), out)


def cofactor_terms(A: Tensor, **rest: object) -> Tensor:
    """The sum of |A[i, j]| |C[i, j]|: how far elements that are off by a relative eps move the determinant, in units of eps."""
    left, values, right = torch.linalg.svd(A)
    others = [torch.cat([values[..., :at], values[..., at + 1 :]], -1).prod(-1) for at in range(values.shape[-1])]
    cofactors = (left * torch.stack(others, -1).unsqueeze(-2)) @ right
    return (A * cofactors).abs().sum((-2, -1))


def unsigned_lu(A: Tensor, **rest: object) -> Tensor:
    """Without the sign of the exchanges."""
    return torch.linalg.lu(A)[2].diagonal(dim1=-2, dim2=-1).prod(-1)


def unsigned_qr(A: Tensor, **rest: object) -> Tensor:
    return torch.linalg.qr(A)[1].diagonal(dim1=-2, dim2=-1).prod(-1)


def diagonal_product(A: Tensor, **rest: object) -> Tensor:
    return A.diagonal(dim1=-2, dim2=-1).prod(-1)


SHOWN: dict[str, Maker] = {
    "fp32": lambda d: {"A": d.normal(9, 9)},
    "batch": lambda d: {"A": d.normal(3, 2, 7, 7)},
    "fp64": lambda d: {"A": d.normal(4, 12, 12, dtype=FP64)},
    "near-one": lambda d: {"A": near_one(d, 5, 31, 31)},
    "scaled-rotation": lambda d: {"A": rotation(d, 5, 13, 13).float() * d.uniform(5, 13, 1, low=0.5, high=1.5)},
    "one-singular": lambda d: {"A": with_matrix(d.normal(4, 6, 6), 2, dependent(d.normal(6, 6)))},
    "one-zero-column": lambda d: {"A": with_matrix(d.normal(4, 5, 5), 1, d.normal(5, 5) * torch.tensor([1, 1, 0, 1, 1], device=d.device))},
    "zero-diagonal": lambda d: {"A": d.normal(8, 8).fill_diagonal_(0.0)},
    "transposed-small": lambda d: {"A": transposed(d.normal(6, 6, scale=0.01))},
    "one": lambda d: {"A": d.normal(7, 1, 1)},
}
HIDDEN: dict[str, Maker] = {
    "two": lambda d: {"A": d.normal(9, 2, 2, scale=100)},
    "strided-outliers": lambda d: {"A": strided(d.outliers(2, 8, 8, factor=100))},
    "offset-fp64": lambda d: {"A": offset(d.normal(2, 11, 11, dtype=FP64))},
}


def large(d: Draw, batch: int, n: int) -> Arguments:
    return {"A": near_one(d, batch, n, n)}


TASKS = (
    Task(
        "kernelbench_x/det",
        "LinearAlgebra",
        "torch.linalg",
        det,
        shown(SHOWN) + hidden(HIDDEN),
        timed(large, SIZES),
        Contract(close(), notes=NOTES),
        magnitude=cofactor_terms,
        wrong={"the sign of exchanges forgotten": unsigned_lu, "the product of the diagonal": diagonal_product},
    ),
    Task(
        "kernelbench_x/determinant_lu",
        "LinearAlgebra",
        "torch.linalg",
        determinant_lu,
        shown(SHOWN | {
            "no-pivots": lambda d: {"A": dominant(d, 3, 6, 6) / 10, "pivot": False},
            "out": lambda d: {"A": d.normal(3, 5, 5), "out": nothing(d, 3)},
        }) + hidden(HIDDEN | {
            "no-pivots-fp64": lambda d: {"A": dominant(d, 9, 9, dtype=FP64) / 20, "pivot": False},
        }),
        timed(large, SIZES),
        Contract(close(), mutates=("out",), notes=NOTES),
        magnitude=cofactor_terms,
        wrong={"the sign of exchanges forgotten": unsigned_lu},
    ),
    Task(
        "kernelbench_x/determinant_via_qr",
        "LinearAlgebra",
        "torch.linalg",
        determinant_via_qr,
        shown(SHOWN | {
            "complete": lambda d: {"A": d.normal(8, 8), "mode": "complete"},
            "out": lambda d: {"A": d.normal(3, 5, 5), "out": nothing(d, 3)},
        }) + hidden(HIDDEN),
        timed(large, ((1, 16), (64, 32), (256, 32))),
        Contract(close(), mutates=("out",), notes=NOTES),
        magnitude=cofactor_terms,
        wrong={"the sign of Q forgotten": unsigned_qr, "its absolute value": lambda A, **rest: det(A).abs()},
    ),
)  # fmt: skip
