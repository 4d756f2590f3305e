"""Fusion of KernelBench-X: dropout beside pointwise steps, behind a product and a norm or without."""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import dropout
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.suites.kernelbench_x.fusion._dropped import NOTES, always, rescaled, row_mask
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16, FP32 = torch.float16, torch.bfloat16, torch.float32


def fused_hardshrink_dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, lambd: float = 0.5) -> Tensor:
    """`hardshrink(dropout(input))`.

    In training each element is kept with probability 1 - p and divided by 1 - p, or else becomes 0, independently of all others and anew
    in each call; otherwise all are kept as they are. Then what is not above `lambd` in absolute value becomes 0, and the rest stays.
    `inplace` is always False here: the result is a new tensor."""
    return functional.hardshrink(functional.dropout(input, p, training, inplace), lambd)


def shrunk(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, lambd: float = 0.5) -> tuple[Tensor, Tensor]:
    return functional.hardshrink(rescaled(input, p, training), lambd), torch.zeros_like(input)


def shrink_first(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, lambd: float = 0.5) -> Tensor:
    """The threshold is compared with values that are not rescaled yet."""
    return functional.dropout(functional.hardshrink(input, lambd), p, training)


def not_rescaled(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, lambd: float = 0.5) -> Tensor:
    return functional.hardshrink(functional.dropout(input, p, training) * (1 - p if training else 1), lambd)


def softly(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, lambd: float = 0.5) -> Tensor:
    return functional.softshrink(functional.dropout(input, p, training), lambd)


def fused_bmm_rmsnorm_gelu_dropout(
    input1: Tensor, input2: Tensor, normalized_shape: int, dropout_p: float = 0.1, eps: float = 1e-5, training: bool = True,
    approximate: str = "none", *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Dropout of `gelu(rms_norm(input1 @ input2))` for batches of matrices (b, n, k) and (b, k, m).

    The norm is `z / sqrt(mean(z**2) + eps)` over the last axis of the product, whose length is `normalized_shape`. GELU is `x * Phi(x)`
    with the Gaussian distribution function (`approximate="none"`, through erf), or
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`).

    In training each element is then kept with probability 1 - dropout_p and divided by 1 - dropout_p, or else becomes 0, independently of
    all others and anew in each call; otherwise all are kept as they are. With `out` the result is written there."""
    normed = functional.rms_norm(torch.bmm(input1, input2), (normalized_shape,), eps=eps)
    return into(functional.dropout(functional.gelu(normed, approximate=approximate), dropout_p, training), out)


def fused_bmm_rmsnorm_gelu_dropout_sub(
    input1: Tensor, input2: Tensor, other: Tensor, normalized_shape: int, dropout_p: float = 0.5, training: bool = True,
    approximate: str = "none", eps: float = 1e-5, *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """`dropout(gelu(rms_norm(input1 @ input2))) - other` for batches of matrices (b, n, k) and (b, k, m); `other` broadcasts against
    the product.

    The norm is `z / sqrt(mean(z**2) + eps)` over the last axis of the product, whose length is `normalized_shape`. GELU is `x * Phi(x)`
    with the Gaussian distribution function (`approximate="none"`, through erf), or
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`).

    In training each element is then kept with probability 1 - dropout_p and divided by 1 - dropout_p, or else becomes 0, independently of
    all others and anew in each call; otherwise all are kept as they are. `other` is subtracted after that. With `out` the result is
    written there."""
    kept = fused_bmm_rmsnorm_gelu_dropout(input1, input2, normalized_shape, dropout_p, eps, training, approximate)
    return into(kept - other, out)


def normed_truth(
    input1: Tensor, input2: Tensor, normalized_shape: int, dropout_p: float = 0.1, eps: float = 1e-5, training: bool = True,
    approximate: str = "none", *, out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    value = fused_bmm_rmsnorm_gelu_dropout(input1, input2, normalized_shape, dropout_p, eps, False, approximate)
    return rescaled(value, dropout_p, training), torch.zeros_like(value)


def normed_sub_truth(
    input1: Tensor, input2: Tensor, other: Tensor, normalized_shape: int, dropout_p: float = 0.5, training: bool = True,
    approximate: str = "none", eps: float = 1e-5, *, out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    kept, dropped = normed_truth(input1, input2, normalized_shape, dropout_p, eps, training, approximate)
    return kept - other, dropped - other


def normed_terms(
    input1: Tensor, input2: Tensor, normalized_shape: int, dropout_p: float = 0.1, eps: float = 1e-5, training: bool = True,
    approximate: str = "none", *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """What the product is off by, through the norm: directly, and by way of the mean square."""
    product = torch.bmm(input1, input2)
    root = (product.square().mean(-1, keepdim=True) + eps).sqrt()
    sizes, normed = torch.bmm(input1.abs(), input2.abs()) / root, product.abs() / root
    return 1.13 * rescaled(sizes + normed * (normed * sizes).mean(-1, keepdim=True), dropout_p, training)


def normed_sub_terms(
    input1: Tensor, input2: Tensor, other: Tensor, normalized_shape: int, dropout_p: float = 0.5, training: bool = True,
    approximate: str = "none", eps: float = 1e-5, *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return normed_terms(input1, input2, normalized_shape, dropout_p, eps, training, approximate) + other.abs()


def one_mask(
    input1: Tensor, input2: Tensor, normalized_shape: int, dropout_p: float = 0.1, eps: float = 1e-5, training: bool = True,
    approximate: str = "none", *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    value = fused_bmm_rmsnorm_gelu_dropout(input1, input2, normalized_shape, dropout_p, eps, False, approximate)
    return into(row_mask(value, dropout_p, training), out)


def centred(
    input1: Tensor, input2: Tensor, normalized_shape: int, dropout_p: float = 0.1, eps: float = 1e-5, training: bool = True,
    approximate: str = "none", *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """A layer norm, which subtracts the mean."""
    normed = functional.layer_norm(torch.bmm(input1, input2), (normalized_shape,), eps=eps)
    return into(functional.dropout(functional.gelu(normed, approximate=approximate), dropout_p, training), out)


def dropped_difference(
    input1: Tensor, input2: Tensor, other: Tensor, normalized_shape: int, dropout_p: float = 0.5, training: bool = True,
    approximate: str = "none", eps: float = 1e-5, *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    value = fused_bmm_rmsnorm_gelu_dropout(input1, input2, normalized_shape, dropout_p, eps, False, approximate)
    return into(functional.dropout(value - other, dropout_p, training), out)


def matrices(draw: Draw, b: int, n: int, k: int, m: int, dtype: torch.dtype = FP32) -> Arguments:
    return {"input1": draw.normal(b, n, k, dtype=dtype), "input2": draw.normal(b, k, m, dtype=dtype), "normalized_shape": m}


def three(draw: Draw, b: int, n: int, k: int, m: int, dtype: torch.dtype = FP32) -> Arguments:
    return matrices(draw, b, n, k, m, dtype) | {"other": draw.normal(b, n, m, dtype=dtype)}


TASKS = (
    Task(
        "kernelbench_x/fused_hardshrink_dropout",
        "Fusion",
        "fused",
        fused_hardshrink_dropout,
        shown({
            "fp32": lambda d: {"input": d.normal(4099)},
            "fp16": lambda d: {"input": d.normal(37, 41, dtype=FP16)},
            "bf16": lambda d: {"input": d.normal(997, dtype=BF16), "lambd": 1.0},
            "seldom": lambda d: {"input": d.normal(61, 67), "p": 0.1},
            "often": lambda d: {"input": d.normal(4001), "p": 0.9, "lambd": 2.0},
            "evaluation": lambda d: {"input": d.normal(31, 67), "training": False},
            "at-the-threshold": lambda d: {"input": d.ties(19, 83) - 1, "p": 0.0, "lambd": 1.0},
            "no-threshold": lambda d: {"input": d.normal(43, 47), "p": 0.25, "lambd": 0.0},
            "all-dropped": lambda d: {"input": d.normal(211), "p": 1.0},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "p": 0.3},
            "empty": lambda d: {"input": d.normal(0, 5), "training": False},
        }) + hidden({
            "outliers": lambda d: {"input": offset(d.outliers(2, 3, 173)), "p": 0.6, "lambd": 0.25},
            "strided-bf16": lambda d: {"input": strided(d.normal(23, 67, dtype=BF16)), "p": 0.5, "lambd": 0.125},
            "evaluation-fp16": lambda d: {"input": d.ties(13, 67, dtype=FP16) * 0.25, "p": 0.9, "training": False},
        }),
        timed(lambda d, n: {"input": d.normal(n)}, ((1 << 12,), (1 << 18,), (1 << 22,), (1 << 24,))),
        Contract(dropout(), random=True, notes=("The result is a new tensor, and the sign of a zero is free.",)),
        truth=shrunk,
        wrong={
            "everything kept": always(fused_hardshrink_dropout, training=False),
            "hardshrink before dropout": shrink_first,
            "not rescaled": not_rescaled,
            "softshrink": softly,
        },
    ),
    Task(
        "kernelbench_x/fused_bmm_rmsnorm_gelu_dropout",
        "Fusion",
        "fused",
        fused_bmm_rmsnorm_gelu_dropout,
        shown({
            "fp32": lambda d: matrices(d, 2, 37, 33, 29),
            "fp16": lambda d: matrices(d, 2, 16, 64, 32, FP16) | {"dropout_p": 0.5},
            "bf16-tanh": lambda d: matrices(d, 1, 31, 29, 37, BF16) | {"dropout_p": 0.3, "approximate": "tanh"},
            "tanh": lambda d: matrices(d, 3, 13, 19, 23) | {"dropout_p": 0.4, "approximate": "tanh"},
            "eps": lambda d: matrices(d, 2, 17, 3, 31) | {"dropout_p": 0.25, "eps": 1.0},
            "evaluation": lambda d: matrices(d, 2, 7, 43, 5) | {"training": False},
            "small": lambda d: matrices(d, 1, 11, 17, 13) | {"input2": d.normal(1, 17, 13, scale=1e-4), "dropout_p": 0.0},
            "all-dropped": lambda d: matrices(d, 1, 5, 7, 11) | {"dropout_p": 1.0},
            "transposed": lambda d: matrices(d, 2, 19, 17, 23) | {"input1": transposed(d.normal(2, 19, 17)), "dropout_p": 0.5},
            "out": lambda d: matrices(d, 2, 13, 11, 19) | {"dropout_p": 0.6, "out": nothing(d, 2, 13, 19)},
        }) + hidden({
            "strided-fp16": lambda d: (
                matrices(d, 2, 23, 32, 17, FP16) | {"input2": strided(d.normal(2, 32, 17, dtype=FP16)), "dropout_p": 0.7}
            ),
            "large": lambda d: matrices(d, 1, 31, 37, 41) | {"input1": offset(d.normal(1, 31, 37, scale=1e4)), "approximate": "tanh"},
            "evaluation-outliers": lambda d: matrices(d, 2, 5, 61, 7) | {"input1": d.outliers(2, 5, 61), "training": False},
        }),
        timed(lambda d, b, n: matrices(d, b, n, n, n), ((4, 64), (8, 256), (16, 512), (16, 1024))),
        Contract(dropout("dropout_p", 0.1), mutates=("out",), random=True, notes=NOTES[:1]),
        honest=rounded_once(fused_bmm_rmsnorm_gelu_dropout),
        truth=normed_truth,
        magnitude=normed_terms,
        wrong={
            "everything kept": always(fused_bmm_rmsnorm_gelu_dropout, training=False),
            "no eps": always(fused_bmm_rmsnorm_gelu_dropout, eps=0.0),
            "the mean subtracted": centred,
            "one mask for all rows": one_mask,
        },
    ),
    Task(
        "kernelbench_x/fused_bmm_rmsnorm_gelu_dropout_sub",
        "Fusion",
        "fused",
        fused_bmm_rmsnorm_gelu_dropout_sub,
        shown({
            "fp32": lambda d: three(d, 2, 17, 33, 29),
            "fp16": lambda d: three(d, 2, 16, 64, 32, FP16) | {"dropout_p": 0.25},
            "bf16-tanh": lambda d: three(d, 1, 31, 29, 37, BF16) | {"approximate": "tanh"},
            "tanh": lambda d: three(d, 3, 13, 19, 23) | {"dropout_p": 0.4, "approximate": "tanh"},
            "eps": lambda d: three(d, 2, 17, 3, 31) | {"eps": 1.0},
            "seldom": lambda d: three(d, 2, 37, 11, 31) | {"dropout_p": 0.1},
            "evaluation": lambda d: three(d, 2, 7, 43, 5) | {"training": False},
            "row": lambda d: three(d, 2, 19, 17, 31) | {"other": d.normal(31)},
            "transposed": lambda d: three(d, 2, 19, 17, 23) | {"other": transposed(d.normal(2, 19, 23)), "dropout_p": 0.6},
            "out": lambda d: three(d, 2, 13, 11, 19) | {"out": nothing(d, 2, 13, 19)},
        }) + hidden({
            "strided-fp16": lambda d: three(d, 2, 23, 32, 17, FP16) | {"input2": strided(d.normal(2, 32, 17, dtype=FP16)),
            "dropout_p": 0.7},
            "all-dropped": lambda d: three(d, 1, 5, 7, 11) | {"other": offset(d.normal(1, 5, 11)), "dropout_p": 1.0},
            "evaluation-outliers": lambda d: three(d, 2, 5, 61, 7) | {"input1": d.outliers(2, 5, 61), "training": False,
            "approximate": "tanh"},
        }),
        timed(lambda d, b, n: three(d, b, n, n, n), ((4, 64), (8, 256), (16, 512), (16, 1024))),
        Contract(dropout("dropout_p"), mutates=("out",), random=True, notes=NOTES[:1]),
        honest=rounded_once(fused_bmm_rmsnorm_gelu_dropout_sub),
        truth=normed_sub_truth,
        magnitude=normed_sub_terms,
        wrong={
            "everything kept": always(fused_bmm_rmsnorm_gelu_dropout_sub, training=False),
            "no eps": always(fused_bmm_rmsnorm_gelu_dropout_sub, eps=0.0),
            "dropout of the difference": dropped_difference,
        },
    ),
)  # fmt: skip
