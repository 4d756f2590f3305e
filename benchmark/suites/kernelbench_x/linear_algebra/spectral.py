"""LinearAlgebra of KernelBench-X: matrices rebuilt from their spectrum."""

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.suites.kernelbench_x.linear_algebra._matrices import BATCHES, FP64, graded, positive, spectrum
from benchmark.task import Contract, Task, hidden, shown, timed

INNER = "The error counts beside the norm of A and how far it moves the result."


def low_rank_svd_approximation(A: Tensor, k: int, *, full_matrices: bool = True, out: Tensor | None = None) -> Tensor:
    """The best approximation of rank k of real A `(*, m, n)`, in its shape: `U diag(S) Vh` with the k largest singular values and their
    vectors alone, 1 <= k < min(m, n); the k-th value is larger than the next one here. `full_matrices` says which decomposition is used
    inside, and does not change the result. A given `out` receives the result and is returned."""
    left, values, right = torch.linalg.svd(A, full_matrices=full_matrices)
    return into((left[..., :k] * values[..., None, :k]) @ right[..., :k, :], out)


def turned(A: Tensor, k: int, **rest: object) -> Tensor:
    """How far a backward error moves the approximation, in its units: the norm of A, more where the k-th value is near the next one."""
    values = torch.linalg.svdvals(A)
    last = values[..., k - 1]
    return (values[..., 0] * (1 + 2 * last / (last - values[..., k])))[..., None, None].expand_as(A)


def smallest(A: Tensor, k: int, **rest: object) -> Tensor:
    left, values, right = torch.linalg.svd(A, full_matrices=False)
    return (left[..., -k:] * values[..., None, -k:]) @ right[..., -k:, :]


def matrix_power_eig(A: Tensor, k: float, *, out: Tensor | None = None) -> Tensor:
    """`A^k = V diag(w^k) V^T` from the eigenvalues w and the orthonormal eigenvectors V of real symmetric A `(*, n, n)`, both of whose
    triangles are given. k is any real number; the eigenvalues are positive where it is no whole number, and not 0 where it is negative.
    A given `out` receives the result and is returned."""
    values, vectors = torch.linalg.eigh(A)
    return into((vectors * values.pow(k).unsqueeze(-2)) @ vectors.mT, out)


def moved(A: Tensor, k: float, *, out: Tensor | None = None) -> Tensor:
    """How far a backward error moves the power, in its units: the norm of A times the slope of w^k, and the norm of the power."""
    values = torch.linalg.eigvalsh(A).abs()
    slopes, powers = (k * values.pow(k - 1)).abs(), values.pow(k)
    return (values.amax(-1) * slopes.amax(-1) + powers.amax(-1))[..., None, None].expand_as(A)


def of_each_element(A: Tensor, k: float, *, out: Tensor | None = None) -> Tensor:
    return A.abs().pow(k)


def of_absolute_values(A: Tensor, k: float, *, out: Tensor | None = None) -> Tensor:
    """As with singular values in place of eigenvalues."""
    values, vectors = torch.linalg.eigh(A)
    return (vectors * values.abs().pow(k).unsqueeze(-2)) @ vectors.mT


TASKS = (
    Task(
        "kernelbench_x/low_rank_svd_approximation",
        "LinearAlgebra",
        "torch.linalg",
        low_rank_svd_approximation,
        shown({
            "fp32": lambda d: {"A": graded(d, 17, 13, last=1e-2), "k": 5},
            "wide-reduced": lambda d: {"A": graded(d, 7, 19, last=1e-2), "k": 3, "full_matrices": False},
            "rank-one": lambda d: {"A": graded(d, 11, 11, last=1e-3), "k": 1},
            "all-but-one": lambda d: {"A": graded(d, 9, 6, last=0.1), "k": 5},
            "batch": lambda d: {"A": graded(d, 3, 2, 8, 8, last=1e-2), "k": 4},
            "fp64": lambda d: {"A": graded(d, 12, 10, dtype=FP64, last=1e-3), "k": 4},
            "badly-conditioned": lambda d: {"A": graded(d, 14, 14, last=1e-6), "k": 7},
            "transposed-tiny": lambda d: {"A": transposed(graded(d, 10, 12, last=1e-2, scale=1e-9)), "k": 2},
            "out": lambda d: {"A": graded(d, 8, 6, last=1e-2), "k": 2, "out": nothing(d, 8, 6)},
        }) + hidden({
            "strided-large": lambda d: {"A": strided(graded(d, 2, 9, 11, last=1e-2, scale=1e6)), "k": 5, "full_matrices": False},
            "tall": lambda d: {"A": graded(d, 31, 6, last=0.05), "k": 3},
            "fp64-offset": lambda d: {"A": offset(graded(d, 15, 15, dtype=FP64, last=1e-4)), "k": 3},
        }),
        timed(lambda d, batch, n: {"A": graded(d, batch, n, n, last=1e-2), "k": n // 4}, BATCHES),
        Contract(close(), mutates=("out",), notes=(INNER,)),
        magnitude=turned,
        wrong={
            "the smallest values": smallest,
            "one value too few": lambda A, k, **rest: low_rank_svd_approximation(A, k) - low_rank_svd_approximation(A, 1) * 1e-3,
        },
    ),
    Task(
        "kernelbench_x/matrix_power_eig",
        "LinearAlgebra",
        "torch.linalg",
        matrix_power_eig,
        shown({
            "square": lambda d: {"A": spectrum(d, 13, 13, values=(3.0, 2.0, -1.0, 0.5)), "k": 2},
            "cube": lambda d: {"A": spectrum(d, 11, 11, values=(2.0, 1.0, -1.0, -3.0)), "k": 3.0},
            "root": lambda d: {"A": positive(d, 12, 12), "k": 0.5},
            "inverse": lambda d: {"A": spectrum(d, 9, 9, values=(4.0, 2.0, -1.0)), "k": -1},
            "inverse-root": lambda d: {"A": positive(d, 3, 2, 6, 6), "k": -0.5},
            "fp64": lambda d: {"A": positive(d, 10, 10, dtype=FP64), "k": 2.7},
            "tenth": lambda d: {"A": spectrum(d, 8, 8, values=(1.2, 1.0, -0.9, 0.5)), "k": 10.0},
            "transposed-tiny": lambda d: {"A": transposed(positive(d, 14, 14, scale=1e-9)), "k": 1.5},
            "one": lambda d: {"A": d.uniform(5, 1, 1, low=0.5, high=3.0), "k": 1.3},
            "out": lambda d: {"A": positive(d, 7, 7), "k": 1.5, "out": nothing(d, 7, 7)},
        }) + hidden({
            "strided-large": lambda d: {"A": strided(positive(d, 2, 9, 9, scale=1e6)), "k": -1.5},
            "fifth-root": lambda d: {"A": positive(d, 16, 16), "k": 0.2},
            "fp64-power": lambda d: {"A": offset(spectrum(d, 11, 11, values=(3.0, -2.0, 1.0), dtype=FP64)), "k": 5},
        }),
        timed(lambda d, batch, n: {"A": positive(d, batch, n, n), "k": 0.5}, BATCHES),
        Contract(close(), mutates=("out",), notes=(INNER,)),
        magnitude=moved,
        wrong={"each element to the power": of_each_element, "absolute eigenvalues": of_absolute_values},
    ),
)  # fmt: skip
