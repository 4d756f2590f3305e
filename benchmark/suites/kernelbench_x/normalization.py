"""Normalization of KernelBench-X."""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed, without
from benchmark.sizes import ROWS
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16, FP64 = torch.float16, torch.bfloat16, torch.float64


def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """`(x - mean) / sqrt(variance + eps) * weight + bias` for each channel, which is axis 1 of `input` (N, C) or (N, C, d1, ...).
    `weight` and `bias` have shape (C,) and may be None.

    Without `training` mean and variance are `running_mean` and `running_var`, of shape (C,). With it they are those of the n
    elements of the channel: the variance is biased, and the mean is subtracted before squaring. The running ones, where given, are
    then moved in place, `running = (1 - momentum) * running + momentum * new`, the variance by the unbiased one, which is
    n / (n - 1) times the biased one."""
    return functional.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def batch_norm_terms(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Of the result, and of the running statistics where these are written."""
    shape = (1, -1, *[1] * (input.dim() - 2))
    axes = [axis for axis in range(input.dim()) if axis != 1]
    mean = input.mean(axes) if training else running_mean
    var = input.var(axes, correction=0) if training else running_var
    assert mean is not None
    assert var is not None
    terms = (input.abs() + mean.abs().reshape(shape)) / (var + eps).sqrt().reshape(shape)
    terms = terms if weight is None else terms * weight.abs().reshape(shape)
    terms = terms if bias is None else terms + bias.abs().reshape(shape)
    if not training or running_mean is None or running_var is None:
        return (terms,)
    size, old = input.abs().mean(axes), 1 - momentum
    return terms, old * running_mean.abs() + momentum * size, old * running_var + momentum * (input.var(axes) + size * var.sqrt())


def biased_running_variance(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    before = None if running_var is None else running_var.clone()
    result = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    if training and running_var is not None and before is not None:
        n = input.numel() // input.shape[1]
        running_var.copy_((1 - momentum) * before + (running_var - (1 - momentum) * before) * (n - 1) / n)
    return result


def running_statistics_kept(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    return batch_norm(input, None if training else running_mean, None if training else running_var, weight, bias, training, momentum, eps)


def momentum_exchanged(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None, bias: Tensor | None = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """The share of the old values taken for that of the new ones."""
    return batch_norm(input, running_mean, running_var, weight, bias, training, 1 - momentum, eps)


def normalized_cosine_similarity(
    x1: Tensor, x2: Tensor, dim: int = 1, eps_similarity: float = 1e-8, p_norm: float = 2, eps_norm: float = 1e-12
) -> Tensor:
    """Both tensors are divided by their `p_norm` along `dim`, or by `eps_norm` where the norm is less: `a = x1 / max(|x1|_p, eps_norm)`,
    b likewise. The result, without the axis `dim`, is `sum(a * b) / (max(|a|_2, eps_similarity) * max(|b|_2, eps_similarity))`.
    x1 and x2 broadcast against each other along other axes than `dim`."""
    a = functional.normalize(x1, p=p_norm, dim=dim, eps=eps_norm)
    b = functional.normalize(x2, p=p_norm, dim=dim, eps=eps_norm)
    return functional.cosine_similarity(a, b, dim=dim, eps=eps_similarity)


def cosine_terms(x1: Tensor, x2: Tensor, dim: int = 1, eps_similarity: float = 1e-8, p_norm: float = 2, eps_norm: float = 1e-12) -> Tensor:
    return 2 * normalized_cosine_similarity(x1.abs(), x2.abs(), dim, eps_similarity, p_norm, eps_norm)


def not_normalized_first(
    x1: Tensor, x2: Tensor, dim: int = 1, eps_similarity: float = 1e-8, p_norm: float = 2, eps_norm: float = 1e-12
) -> Tensor:
    return functional.cosine_similarity(x1, x2, dim=dim, eps=eps_similarity)


def dot_of_the_normalized(
    x1: Tensor, x2: Tensor, dim: int = 1, eps_similarity: float = 1e-8, p_norm: float = 2, eps_norm: float = 1e-12
) -> Tensor:
    return (functional.normalize(x1, p_norm, dim, eps_norm) * functional.normalize(x2, p_norm, dim, eps_norm)).sum(dim)


def normalize_pairwise_distance(
    x1: Tensor, x2: Tensor, p_distance: float = 2.0, eps_distance: float = 1e-06, keepdim: bool = False, p_norm: float = 2,
    dim_norm: int = 1, eps_norm: float = 1e-12,
) -> Tensor:  # fmt: skip
    """Distances `d = |x1 - x2|_p + eps_distance` along the last axis (p is `p_distance`, which may be inf; with `keepdim` the axis
    stays, of length 1), divided by their norm along the axis `dim_norm` of the distances: `d / max(|d|_p_norm, eps_norm)`."""
    distance = torch.linalg.vector_norm(x1 - x2, p_distance, dim=-1, keepdim=keepdim) + eps_distance
    return distance / torch.linalg.vector_norm(distance, p_norm, dim=dim_norm, keepdim=True).clamp_min(eps_norm)


def distance_over_everything(
    x1: Tensor, x2: Tensor, p_distance: float = 2.0, eps_distance: float = 1e-06, keepdim: bool = False, p_norm: float = 2,
    dim_norm: int = 1, eps_norm: float = 1e-12,
) -> Tensor:  # fmt: skip
    """One norm for all."""
    distance = torch.linalg.vector_norm(x1 - x2, p_distance, dim=-1, keepdim=keepdim) + eps_distance
    return distance / torch.linalg.vector_norm(distance, p_norm).clamp_min(eps_norm)


def distance_with_eps_inside(
    x1: Tensor, x2: Tensor, p_distance: float = 2.0, eps_distance: float = 1e-06, keepdim: bool = False, p_norm: float = 2,
    dim_norm: int = 1, eps_norm: float = 1e-12,
) -> Tensor:  # fmt: skip
    """As torch's pairwise_distance has it."""
    distance = torch.linalg.vector_norm(x1 - x2 + eps_distance, p_distance, dim=-1, keepdim=keepdim)
    return distance / torch.linalg.vector_norm(distance, p_norm, dim=dim_norm, keepdim=True).clamp_min(eps_norm)


def symmetric_matrix_vector_norm(A: Tensor, x: Tensor, alpha: float, beta: float, p: float = 2.0) -> Tensor:
    """The p-norm, of no dimensions, of `y + beta * y` with `y = alpha * A @ x`; p may be inf. A is symmetric."""
    y = alpha * (A @ x)
    return torch.linalg.vector_norm(y + beta * y, p)


def matrix_norm_terms(A: Tensor, x: Tensor, alpha: float, beta: float, p: float = 2.0) -> Tensor:
    return torch.linalg.vector_norm(abs(alpha) * (1 + abs(beta)) * (A.abs() @ x.abs()), p)


def spectral_norm_eig(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The largest absolute value of the eigenvalues, which may be complex, of each square matrix of A (..., n, n); the result has
    shape (...). That is the spectral radius, and the spectral norm of normal matrices only. A tensor `out` is filled and returned."""
    # On a GPU torch overwrites a matrix that is stored column by column.
    return into(torch.linalg.eigvals(A.clone()).abs().amax(-1), out)


def eigenvalue_terms(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The size of A times the condition of its largest eigenvalue, 1 / |cos| of the angle between left and right eigenvector."""
    values, right = torch.linalg.eig(A.clone())
    left = torch.linalg.inv(right).mH
    condition = torch.linalg.vector_norm(left, dim=-2) * torch.linalg.vector_norm(right, dim=-2)
    condition = torch.where(values.abs() > 0.99 * values.abs().amax(-1, keepdim=True), condition, 0).amax(-1)
    return condition * torch.linalg.matrix_norm(A)


def largest_real_eigenvalue(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    return into(torch.linalg.eigvals(A.clone()).real.amax(-1), out)


def largest_singular_value(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    return into(torch.linalg.matrix_norm(A, 2), out)


def channels(
    d: Draw,
    *shape: int,
    dtype: torch.dtype = torch.float32,
    statistics: torch.dtype = torch.float32,
    scale: float = 1.0,
    shift: float = 0.0,
) -> Arguments:
    """An input with running statistics that differ from its own."""
    count = shape[1]
    return {
        "input": d.normal(*shape, dtype=dtype, scale=scale, shift=shift),
        "running_mean": d.normal(count, dtype=statistics), "running_var": d.uniform(count, low=0.5, high=2, dtype=statistics),
    }  # fmt: skip


def affine(d: Draw, count: int, dtype: torch.dtype = torch.float32) -> Arguments:
    return {"weight": d.normal(count, dtype=dtype, shift=1), "bias": d.normal(count, dtype=dtype)}


def symmetric(d: Draw, n: int, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> Tensor:
    values = d.normal(n, n, dtype=dtype, scale=scale)
    return values.triu() + values.triu(1).mT


TASKS = (
    Task(
        "kernelbench_x/batch_norm",
        "Normalization",
        "torch.nn.functional",
        batch_norm,
        shown({
            "eval": lambda d: {**channels(d, 13, 7, 5, 11), **affine(d, 7)},
            "training": lambda d: {**channels(d, 13, 7, 5, 11, scale=3, shift=1), **affine(d, 7), "training": True},
            "training-plain": lambda d: {**channels(d, 31, 17), "training": True, "momentum": 0.3, "eps": 1e-3},
            "training-fp16": lambda d: {**channels(d, 5, 3, 67, dtype=FP16), **affine(d, 3), "training": True, "momentum": 0.5},
            "eval-bf16": lambda d: {**channels(d, 4, 11, 23, dtype=BF16, shift=2), **affine(d, 11), "eps": 1e-2},
            "no-running-statistics": lambda d: {
                "input": d.normal(7, 5, 29), "running_mean": None, "running_var": None, **affine(d, 5), "training": True
            },
            "shifted": lambda d: {**channels(d, 11, 3, 37, shift=1000), "training": True},
            "channels-last": lambda d: {
                **channels(d, 3, 8, 7, 5), **affine(d, 8), "training": True,
                "input": d.normal(3, 7, 5, 8).permute(0, 3, 1, 2),
            },
            "small": lambda d: {**channels(d, 19, 5, 13, scale=1e-3), "weight": d.normal(5), "training": True, "momentum": 1.0},
        }) + hidden({
            "two-elements": lambda d: {**channels(d, 2, 23), **affine(d, 23), "training": True, "momentum": 0.9},
            "volume-outliers": lambda d: {
                **channels(d, 2, 3, 5, 7, 11), "input": d.outliers(2, 3, 5, 7, 11), "bias": d.normal(3), "training": True
            },
            "strided-bf16": lambda d: {
                **channels(d, 7, 5, 31), "input": strided(d.normal(7, 5, 31, dtype=BF16)), **affine(d, 5), "training": True
            },
            "eval-offset": lambda d: {
                **channels(d, 5, 13, 17), "input": offset(d.normal(5, 13, 17, scale=100)), "weight": offset(d.normal(13))
            },
        }),
        timed(
            lambda d, *s: {**channels(d, *s, dtype=FP16), **affine(d, s[1]), "training": True},
            ((8, 32, 16, 16), (32, 64, 32, 32), (32, 128, 64, 64), (32, 256, 64, 64)),
        ),
        Contract(
            close(),
            mutates=("running_mean if training", "running_var if training"),
            notes=("The variance that normalises is biased; the one that moves `running_var` is unbiased.",),
        ),
        magnitude=batch_norm_terms,
        wrong={
            "biased running variance": biased_running_variance,
            "running statistics kept": running_statistics_kept,
            "momentum exchanged": momentum_exchanged,
        },
    ),
    Task(
        "kernelbench_x/normalized_cosine_similarity",
        "Normalization",
        "fused",
        normalized_cosine_similarity,
        shown({
            "fp32": lambda d: {"x1": d.normal(17, 129), "x2": d.normal(17, 129)},
            "fp16": lambda d: {"x1": d.normal(61, 67, dtype=FP16, shift=0.5), "x2": d.normal(61, 67, dtype=FP16, shift=0.5)},
            "bf16-axis-0": lambda d: {"x1": d.normal(41, 53, dtype=BF16, shift=0.5), "x2": d.normal(41, 53, dtype=BF16), "dim": 0},
            "large-eps": lambda d: {"x1": d.normal(31, 47), "x2": d.normal(31, 47), "eps_similarity": 0.3, "p_norm": 1},
            "short-vectors": lambda d: {
                "x1": d.normal(29, 37, scale=0.01), "x2": d.normal(29, 37), "eps_norm": 0.5, "eps_similarity": 0.25
            },
            "cubes": lambda d: {"x1": d.normal(5, 31, 7), "x2": d.normal(5, 31, 7), "p_norm": 3, "eps_similarity": 0.6},
            "zero-row": lambda d: {"x1": without(d.normal(13, 43), 0, 2, 5), "x2": d.normal(13, 43)},
            "transposed": lambda d: {"x1": transposed(d.normal(23, 59)), "x2": d.normal(23, 59), "dim": -1},
            "large": lambda d: {
                "x1": d.normal(11, 101, scale=1e4), "x2": d.outliers(11, 101), "p_norm": float("inf"), "eps_similarity": 5.0
            },
        }) + hidden({
            "broadcast": lambda d: {"x1": d.normal(7, 1, 61), "x2": d.normal(1, 11, 61), "dim": 2},
            "strided-bf16": lambda d: {"x1": strided(d.normal(47, 29, dtype=BF16)), "x2": strided(d.normal(47, 29, dtype=BF16))},
            "offset": lambda d: {"x1": offset(d.normal(19, 83)), "x2": offset(d.normal(19, 83), 1), "p_norm": 1.5, "eps_similarity": 0.2},
        }),
        timed(lambda d, m, n: {"x1": d.normal(m, n), "x2": d.normal(m, n)}, ROWS),
        Contract(close(), notes=("An eps bounds a norm from below, it is not added.",)),
        honest=rounded_once(normalized_cosine_similarity),
        magnitude=cosine_terms,
        wrong={"not normalised first": not_normalized_first, "not divided by the second norms": dot_of_the_normalized},
    ),
    Task(
        "kernelbench_x/normalize_pairwise_distance",
        "Normalization",
        "fused",
        normalize_pairwise_distance,
        shown({
            "fp32": lambda d: {"x1": d.normal(7, 31, 29), "x2": d.normal(7, 31, 29)},
            "fp16": lambda d: {"x1": d.normal(3, 37, 23, dtype=FP16), "x2": d.normal(3, 37, 23, dtype=FP16)},
            "bf16-manhattan": lambda d: {"x1": d.normal(5, 29, 17, dtype=BF16), "x2": d.normal(5, 29, 17, dtype=BF16), "p_distance": 1.0},
            "matrix": lambda d: {"x1": d.normal(47, 61), "x2": d.normal(47, 61), "dim_norm": 0},
            "kept-axis": lambda d: {"x1": d.normal(5, 19, 31), "x2": d.normal(5, 19, 31), "keepdim": True, "p_norm": 1},
            "largest": lambda d: {
                "x1": d.normal(4, 23, 11), "x2": d.normal(4, 23, 11), "p_distance": float("inf"), "p_norm": float("inf"), "dim_norm": -1
            },
            "cubes-large-eps": lambda d: {
                "x1": d.normal(3, 17, 37, scale=0.1), "x2": d.normal(3, 17, 37, scale=0.1), "p_distance": 3.0, "eps_distance": 0.5,
                "p_norm": 3,
            },
            "bounded-norm": lambda d: {"x1": d.normal(5, 13, 7, scale=1e-3), "x2": d.normal(5, 13, 7, scale=1e-3), "eps_norm": 2.0},
            "equal-rows": lambda d: _partly_equal(d.normal(5, 13, 19), d.normal(5, 13, 19)),
        }) + hidden({
            "transposed": lambda d: {"x1": transposed(d.normal(3, 29, 41)), "x2": d.normal(3, 29, 41), "dim_norm": 0},
            "strided-bf16": lambda d: {"x1": strided(d.normal(5, 11, 31, dtype=BF16)), "x2": strided(d.normal(5, 11, 31, dtype=BF16), 3)},
            "four-axes": lambda d: {"x1": offset(d.outliers(2, 3, 7, 53)), "x2": d.normal(2, 3, 7, 53), "dim_norm": 2, "p_norm": 1.5},
        }),
        timed(
            lambda d, batch, n, k: {"x1": d.normal(batch, n, k), "x2": d.normal(batch, n, k)},
            ((16, 16, 128), (16, 1024, 128), (16, 8192, 128), (16, 32768, 128)),
        ),
        Contract(close(), notes=("eps_distance is added to the distance, eps_norm bounds the norm from below.",)),
        honest=rounded_once(normalize_pairwise_distance),
        wrong={"one norm for all": distance_over_everything, "epsilon inside": distance_with_eps_inside},
    ),
    Task(
        "kernelbench_x/spectral_norm_eig",
        "Normalization",
        "torch.linalg",
        spectral_norm_eig,
        shown({
            "one": lambda d: {"A": d.normal(13, 13)},
            "batch": lambda d: {"A": d.normal(5, 7, 7)},
            "two-batch-axes": lambda d: {"A": d.normal(2, 3, 4, 4)},
            "fp64": lambda d: {"A": d.normal(3, 11, 11, dtype=FP64)},
            "symmetric": lambda d: {"A": symmetric(d, 17)},
            "turning": lambda d: {"A": d.normal(4, 6, 6) - d.normal(4, 6, 6).mT},
            "transposed": lambda d: {"A": transposed(d.normal(3, 9, 9, scale=1e3))},
            "small-numbers": lambda d: {"A": d.normal(2, 8, 8, scale=1e-5)},
            "out": lambda d: {"A": d.normal(5, 5, 5), "out": nothing(d, 5)},
            "1x1": lambda d: {"A": d.normal(7, 1, 1)},
        }) + hidden({
            "negative": lambda d: {"A": -d.uniform(3, 10, 10)},
            "strided": lambda d: {"A": strided(d.normal(2, 12, 12))},
            "triangular": lambda d: {"A": d.normal(3, 5, 5).tril()},
        }),
        timed(lambda d, b, n: {"A": d.normal(b, n, n)}, ((1, 8), (1, 32), (1, 64))),
        Contract(close(), mutates=("out",), notes=("A rounding of A counts with the condition of the eigenvalue.",)),
        magnitude=eigenvalue_terms,
        wrong={"largest real part": largest_real_eigenvalue, "largest singular value": largest_singular_value},
    ),
    Task(
        "kernelbench_x/symmetric_matrix_vector_norm",
        "Normalization",
        "fused",
        symmetric_matrix_vector_norm,
        shown({
            "fp32": lambda d: {"A": symmetric(d, 65), "x": d.normal(65), "alpha": 1.0, "beta": 1.0},
            "scaled": lambda d: {"A": symmetric(d, 31), "x": d.normal(31), "alpha": -0.5, "beta": 2.5},
            "manhattan": lambda d: {"A": symmetric(d, 53), "x": d.normal(53), "alpha": 2.0, "beta": 0.5, "p": 1.0},
            "largest": lambda d: {"A": symmetric(d, 47), "x": d.normal(47), "alpha": 0.1, "beta": -3.0, "p": float("inf")},
            "cubes": lambda d: {"A": symmetric(d, 37), "x": d.normal(37), "alpha": 1.5, "beta": 0.0, "p": 3.0},
            "fp16-even": lambda d: {"A": symmetric(d, 32, dtype=FP16), "x": d.normal(32, dtype=FP16), "alpha": 0.5, "beta": 1.0},
            "transposed": lambda d: {"A": transposed(symmetric(d, 41)), "x": d.normal(41), "alpha": 1.0, "beta": 0.25},
            "large": lambda d: {"A": symmetric(d, 29, scale=1e4), "x": d.outliers(29), "alpha": 0.01, "beta": 1.0},
            "cancelled": lambda d: {"A": symmetric(d, 23), "x": d.normal(23), "alpha": 3.0, "beta": -0.75, "p": 1.5},
        }) + hidden({
            "one": lambda d: {"A": d.normal(1, 1), "x": d.normal(1), "alpha": 2.0, "beta": 0.5},
            "strided": lambda d: {"A": strided(symmetric(d, 59)), "x": strided(d.normal(59), 3), "alpha": 1.0, "beta": 1.0, "p": 2.5},
            "fp64": lambda d: {"A": symmetric(d, 43, dtype=FP64), "x": offset(d.normal(43, dtype=FP64)), "alpha": 0.75, "beta": -2.0},
        }),
        timed(lambda d, n: {"A": symmetric(d, n), "x": d.normal(n), "alpha": 1.0, "beta": 1.0}, ((256,), (2048,), (6144,), (12288,))),
        Contract(close()),
        honest=rounded_once(symmetric_matrix_vector_norm),
        magnitude=matrix_norm_terms,
        wrong={
            "beta adds x": lambda A, x, alpha, beta, p=2.0: torch.linalg.vector_norm(alpha * (A @ x) + beta * x, p),
            "always Euclidean": lambda A, x, alpha, beta, p=2.0: symmetric_matrix_vector_norm(A, x, alpha, beta, 2.0),
        },
    ),
)  # fmt: skip


def _partly_equal(x1: Tensor, x2: Tensor) -> Arguments:
    """Distances of 0 at a third of the rows."""
    rows = torch.arange(x1.shape[1], device=x1.device) % 3 == 0
    return {"x1": x1, "x2": torch.where(rows[:, None], x1, x2), "eps_distance": 1e-2}
