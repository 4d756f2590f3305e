"""Fusion of KernelBench-X: a matrix product with what follows it, dropout too."""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close, dropout, dropout_product
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.suites.kernelbench_x.fusion._dropped import NOTES, always, rescaled, row_mask
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16, FP32 = torch.float16, torch.bfloat16, torch.float32
STEEPEST = 1.13
"""The largest slope of GELU."""


def fused_mv_sigmoid_sub(input: Tensor, vec: Tensor, other: Tensor | float, alpha: float = 1, *, out: Tensor | None = None) -> Tensor:
    """`sigmoid(input @ vec) - alpha * other` for a matrix (n, m) and a vector (m); `other` broadcasts against the vector (n) that results,
    or is a number. With `out` the result is written there."""
    return into(torch.sub(torch.sigmoid(torch.mv(input, vec)), other, alpha=alpha), out)


def mv_sigmoid_terms(input: Tensor, vec: Tensor, other: Tensor | float, alpha: float = 1, *, out: Tensor | None = None) -> Tensor:
    subtracted = other.abs() if isinstance(other, Tensor) else abs(other)
    return torch.add(1 + torch.mv(input.abs(), vec.abs()) / 4, subtracted, alpha=abs(alpha))


def fused_mv_logsoftmax_dropout(
    input: Tensor, vec: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, dim: int = 0, *, out: Tensor | None = None
) -> Tensor:
    """Dropout of `log_softmax(input @ vec)` for a matrix (n, m) and a vector (m); `dim` is the only axis (0 or -1) of the product.

    In training each element is kept with probability 1 - p and divided by 1 - p, or else becomes 0, independently of all others and anew
    in each call; otherwise all are kept as they are. `inplace` speaks of intermediate results alone. With `out` the result is written
    there."""
    values = torch.log_softmax(torch.mv(input, vec), dim)
    return into(functional.dropout(values, p, training, inplace), out)


def mv_logsoftmax_truth(
    input: Tensor, vec: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, dim: int = 0, *, out: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    values = torch.log_softmax(torch.mv(input, vec), dim)
    return rescaled(values, p, training), torch.zeros_like(values)


def mv_logsoftmax_terms(
    input: Tensor, vec: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, dim: int = 0, *, out: Tensor | None = None
) -> Tensor:
    products = torch.mv(input, vec)
    sizes = torch.mv(input.abs(), vec.abs())
    return rescaled(sizes + products.abs() + products.softmax(dim) @ sizes + products.logsumexp(dim).abs(), p, training)


def masked_mv_logsoftmax(
    input: Tensor, vec: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, dim: int = 0, *, out: Tensor | None = None
) -> Tensor:
    """The mask comes before the softmax."""
    return into(torch.log_softmax(functional.dropout(torch.mv(input, vec), p, training), dim), out)


def not_rescaled_mv(
    input: Tensor, vec: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, dim: int = 0, *, out: Tensor | None = None
) -> Tensor:
    return into(fused_mv_logsoftmax_dropout(input, vec, p, training, inplace, dim) * (1 - p if training else 1), out)


def fused_bmm_dropout_gelu(
    input1: Tensor, input2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, approximate: str = "none",
    *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """`gelu(dropout(input1 @ input2))` for batches of matrices (b, n, k) and (b, k, m).

    In training each element of the product is kept with probability 1 - p and divided by 1 - p, or else becomes 0, independently of all
    others and anew in each call; otherwise all are kept as they are. GELU follows: `x * Phi(x)` with the Gaussian distribution function
    (`approximate="none"`, through erf), or `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`).
    `inplace` speaks of intermediate results alone. With `out` the result is written there."""
    product = functional.dropout(torch.bmm(input1, input2), p, training, inplace)
    return into(functional.gelu(product, approximate=approximate), out)


def bmm_gelu_truth(
    input1: Tensor, input2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, approximate: str = "none",
    *, out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    product = torch.bmm(input1, input2)
    return functional.gelu(rescaled(product, p, training), approximate=approximate), torch.zeros_like(product)


def bmm_gelu_terms(
    input1: Tensor, input2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, approximate: str = "none",
    *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return STEEPEST * rescaled(torch.bmm(input1.abs(), input2.abs()), p, training)


def gelu_then_dropout(
    input1: Tensor, input2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, approximate: str = "none",
    *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """GELU does not commute with the division by 1 - p."""
    values = functional.gelu(torch.bmm(input1, input2), approximate=approximate)
    return into(functional.dropout(values, p, training), out)


def one_mask_bmm_gelu(
    input1: Tensor, input2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, approximate: str = "none",
    *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return into(functional.gelu(row_mask(torch.bmm(input1, input2), p, training), approximate=approximate), out)


def fused_mul_add_logsoftmax_dropout_bmm(
    input1: Tensor, input2: Tensor, other: Tensor | float, mat2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False,
    dim: int = -1, *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """`dropout(log_softmax(input1 * input2 + other, dim)) @ mat2` for batches of matrices: the first three broadcast to (b, n, k)
    (`other` may be a number), `mat2` is (b, k, m).

    In training each element of the logarithms is kept with probability 1 - p and divided by 1 - p, or else becomes 0, independently of all
    others and anew in each call; otherwise all are kept as they are. `inplace` speaks of intermediate results alone. `out` is always
    None here."""
    values = torch.log_softmax(torch.add(input1 * input2, other), dim)
    return into(torch.bmm(functional.dropout(values, p, training, inplace), mat2), out)


def factors(
    input1: Tensor, input2: Tensor, other: Tensor | float, mat2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False,
    dim: int = -1, *, out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    return torch.log_softmax(torch.add(input1 * input2, other), dim), mat2


def softmax_in_place_of_its_log(
    input1: Tensor, input2: Tensor, other: Tensor | float, mat2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False,
    dim: int = -1, *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    values = torch.softmax(torch.add(input1 * input2, other), dim)
    return into(torch.bmm(functional.dropout(values, p, training), mat2), out)


def dropout_of_the_product(
    input1: Tensor, input2: Tensor, other: Tensor | float, mat2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False,
    dim: int = -1, *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    values = torch.log_softmax(torch.add(input1 * input2, other), dim)
    return into(functional.dropout(torch.bmm(values, mat2), p, training), out)


def one_mask_log_softmax(
    input1: Tensor, input2: Tensor, other: Tensor | float, mat2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False,
    dim: int = -1, *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    values = torch.log_softmax(torch.add(input1 * input2, other), dim)
    return into(torch.bmm(row_mask(values, p, training), mat2), out)


def matrices(draw: Draw, b: int, n: int, k: int, m: int, dtype: torch.dtype = FP32) -> Arguments:
    return {"input1": draw.normal(b, n, k, dtype=dtype), "input2": draw.normal(b, k, m, dtype=dtype)}


def mild(draw: Draw, b: int, n: int, k: int, m: int, dtype: torch.dtype = FP32) -> Arguments:
    """Logits of moderate size, so that no logarithm comes near 0, and more columns than rows on the right."""
    shape = (b, n, k)
    return {
        "input1": draw.normal(*shape, dtype=dtype, scale=0.5), "input2": draw.normal(*shape, dtype=dtype, scale=0.5),
        "other": draw.normal(*shape, dtype=dtype, scale=0.5), "mat2": draw.normal(b, k, m, dtype=dtype),
    }  # fmt: skip


TASKS = (
    Task(
        "kernelbench_x/fused_mv_sigmoid_sub",
        "Fusion",
        "fused",
        fused_mv_sigmoid_sub,
        shown({
            "fp32": lambda d: {"input": d.normal(67, 43, scale=0.3), "vec": d.normal(43), "other": d.normal(67)},
            "fp16-alpha": lambda d: {
                "input": d.normal(61, 32, dtype=FP16, scale=0.3), "vec": d.normal(32, dtype=FP16), "other": d.normal(61, dtype=FP16),
                "alpha": 0.5,
            },
            "bf16": lambda d: {"input": d.normal(31, 29, dtype=BF16, scale=0.3), "vec": d.normal(29, dtype=BF16), "other": 0.25},
            "number": lambda d: {"input": d.normal(53, 17), "vec": d.normal(17), "other": -0.75, "alpha": 3},
            "one-number": lambda d: {"input": d.normal(37, 11), "vec": d.normal(11), "other": d.normal(1), "alpha": -2},
            "transposed": lambda d: {"input": transposed(d.normal(41, 23)), "vec": d.normal(23), "other": d.normal(41)},
            "tails": lambda d: {"input": d.normal(59, 19, scale=10), "vec": d.normal(19), "other": d.normal(59, scale=1e-3)},
            "out": lambda d: {"input": d.normal(29, 31, scale=0.2), "vec": d.normal(31), "other": d.normal(29), "out": nothing(d, 29)},
            "one-column": lambda d: {"input": d.normal(83, 1), "vec": d.normal(1), "other": d.normal(83)},
            "nothing-to-sum": lambda d: {"input": d.normal(13, 0), "vec": d.normal(0), "other": d.normal(13)},
        }) + hidden({
            "long": lambda d: {"input": d.normal(5, 1021, scale=0.05), "vec": offset(d.normal(1021)), "other": d.normal(5)},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(43, 37, dtype=BF16, scale=0.3)), "vec": strided(d.normal(37, dtype=BF16)),
                "other": strided(d.normal(43, dtype=BF16)), "alpha": 0.25,
            },
            "outliers": lambda d: {"input": d.outliers(47, 13), "vec": d.normal(13), "other": d.outliers(47), "alpha": 2},
        }),
        timed(lambda d, n: {"input": d.normal(n, n, scale=0.05), "vec": d.normal(n),
        "other": d.normal(n)}, ((64,), (1024,), (4096,), (8192,))),
        Contract(close(), mutates=("out",), notes=(NOTES[0],)),
        honest=rounded_once(fused_mv_sigmoid_sub),
        magnitude=mv_sigmoid_terms,
        wrong={
            "sigmoid of the difference": lambda input, vec, other, alpha=1, *, out=None: (
                into(torch.sigmoid(torch.sub(torch.mv(input, vec), other, alpha=alpha)), out)
            ),
            "alpha left out": lambda input, vec, other, alpha=1, *, out=None: fused_mv_sigmoid_sub(input, vec, other, out=out),
        },
    ),
    Task(
        "kernelbench_x/fused_mv_logsoftmax_dropout",
        "Fusion",
        "fused",
        fused_mv_logsoftmax_dropout,
        shown({
            "fp32": lambda d: {"input": d.normal(509, 43, scale=0.3), "vec": d.normal(43)},
            "fp16": lambda d: {"input": d.normal(401, 32, dtype=FP16, scale=0.2), "vec": d.normal(32, dtype=FP16), "p": 0.25},
            "bf16": lambda d: {
                "input": d.normal(307, 29, dtype=BF16, scale=0.2), "vec": d.normal(29, dtype=BF16), "dim": -1, "inplace": True
            },
            "seldom": lambda d: {"input": d.normal(1501, 17, scale=0.3), "vec": d.normal(17), "p": 0.1},
            "evaluation": lambda d: {"input": d.normal(61, 37), "vec": d.normal(37), "training": False},
            "none-dropped": lambda d: {"input": d.normal(53, 31, scale=3), "vec": d.normal(31), "p": 0.0},
            "all-dropped": lambda d: {"input": d.normal(47, 11), "vec": d.normal(11), "p": 1.0},
            "large": lambda d: {"input": d.normal(43, 19, scale=1e3), "vec": d.normal(19), "training": False},
            "transposed": lambda d: {"input": transposed(d.normal(601, 23, scale=0.2)), "vec": d.normal(23), "p": 0.6},
            "out": lambda d: {"input": d.normal(331, 13, scale=0.3), "vec": d.normal(13), "out": nothing(d, 331)},
        }) + hidden({
            "strided-bf16": lambda d: {
                "input": strided(d.normal(701, 19, dtype=BF16, scale=0.2)), "vec": strided(d.normal(19, dtype=BF16)), "p": 0.4
            },
            "one-column": lambda d: {"input": offset(d.normal(907, 1)), "vec": d.normal(1), "p": 0.75},
            "evaluation-outliers": lambda d: {"input": d.outliers(83, 29), "vec": d.normal(29), "p": 0.9, "training": False},
        }),
        timed(lambda d, n: {"input": d.normal(n, n, scale=0.05), "vec": d.normal(n)}, ((512,), (1024,), (4096,), (8192,))),
        Contract(dropout(), mutates=("out",), random=True, notes=NOTES),
        honest=rounded_once(fused_mv_logsoftmax_dropout),
        truth=mv_logsoftmax_truth,
        magnitude=mv_logsoftmax_terms,
        wrong={
            "everything kept": always(fused_mv_logsoftmax_dropout, training=False),
            "not rescaled": not_rescaled_mv,
            "dropout before the softmax": masked_mv_logsoftmax,
        },
    ),
    Task(
        "kernelbench_x/fused_bmm_dropout_gelu",
        "Fusion",
        "fused",
        fused_bmm_dropout_gelu,
        shown({
            "fp32": lambda d: matrices(d, 2, 17, 33, 29),
            "fp16": lambda d: matrices(d, 2, 16, 64, 32, FP16) | {"p": 0.25},
            "bf16-tanh": lambda d: matrices(d, 1, 31, 29, 37, BF16) | {"approximate": "tanh"},
            "tanh": lambda d: matrices(d, 3, 13, 19, 23) | {"p": 0.4, "approximate": "tanh", "inplace": True},
            "seldom": lambda d: matrices(d, 2, 37, 11, 31) | {"p": 0.1},
            "evaluation": lambda d: matrices(d, 2, 7, 43, 5) | {"training": False},
            "none-dropped": lambda d: matrices(d, 1, 11, 53, 13) | {"p": 0.0, "approximate": "tanh"},
            "all-dropped": lambda d: matrices(d, 1, 5, 7, 11) | {"p": 1.0},
            "transposed": lambda d: {"input1": transposed(d.normal(2, 19, 17)), "input2": transposed(d.normal(2, 17, 23)), "p": 0.5},
            "out": lambda d: matrices(d, 2, 13, 11, 19) | {"out": nothing(d, 2, 13, 19)},
        }) + hidden({
            "strided-fp16": lambda d: {
                "input1": strided(d.normal(2, 23, 32, dtype=FP16)), "input2": strided(d.normal(2, 32, 17, dtype=FP16)), "p": 0.7
            },
            "long": lambda d: {"input1": d.normal(1, 17, 509, scale=0.05), "input2": offset(d.normal(1, 509, 31)), "approximate": "tanh"},
            "evaluation-outliers": lambda d: {"input1": d.outliers(2, 5, 61), "input2": d.normal(2, 61, 7), "training": False},
        }),
        timed(lambda d, b, n: matrices(d, b, n, n, n), ((4, 64), (8, 256), (16, 512), (16, 1024))),
        Contract(dropout(), mutates=("out",), random=True, notes=NOTES),
        honest=rounded_once(fused_bmm_dropout_gelu),
        truth=bmm_gelu_truth,
        magnitude=bmm_gelu_terms,
        wrong={
            "everything kept": always(fused_bmm_dropout_gelu, training=False),
            "GELU before dropout": gelu_then_dropout,
            "one mask for all rows": one_mask_bmm_gelu,
        },
    ),
    Task(
        "kernelbench_x/fused_mul_add_logsoftmax_dropout_bmm",
        "Fusion",
        "fused",
        fused_mul_add_logsoftmax_dropout_bmm,
        shown({
            "fp32": lambda d: mild(d, 2, 17, 23, 37),
            "fp16": lambda d: mild(d, 2, 16, 32, 48, FP16) | {"p": 0.25},
            "bf16": lambda d: mild(d, 1, 23, 16, 32, BF16),
            "axis-1": lambda d: mild(d, 2, 19, 17, 31) | {"dim": 1, "p": 0.4, "inplace": True},
            "number": lambda d: mild(d, 3, 13, 19, 29) | {"other": 0.75},
            "seldom": lambda d: mild(d, 2, 41, 19, 31) | {"p": 0.1},
            "evaluation": lambda d: mild(d, 2, 7, 43, 61) | {"training": False},
            "none-dropped": lambda d: mild(d, 1, 11, 13, 17) | {"p": 0.0, "dim": -2},
            "transposed": lambda d: mild(d, 2, 19, 17, 29) | {"input1": transposed(d.normal(2, 19, 17, scale=0.5)), "p": 0.6},
            "broadcast": lambda d: mild(d, 2, 17, 23, 37) | {"input2": d.normal(23, scale=0.5), "other": d.normal(2, 1, 23)},
        }) + hidden({
            "strided-fp16": lambda d: mild(d, 2, 23, 16, 24, FP16) | {"other": strided(d.normal(2, 23, 16, dtype=FP16, scale=0.5)),
            "p": 0.7},
            "offset": lambda d: mild(d, 1, 29, 19, 37) | {"mat2": offset(d.normal(1, 19, 37))},
            "evaluation-large": lambda d: mild(d, 2, 5, 31, 43) | {"other": d.normal(2, 5, 31, scale=100), "training": False},
        }),
        timed(lambda d, b, n: mild(d, b, n, n, 3 * n // 2), ((4, 64), (8, 128), (16, 256), (16, 512))),
        Contract(dropout_product(), random=True, notes=NOTES),
        honest=rounded_once(fused_mul_add_logsoftmax_dropout_bmm),
        truth=factors,
        wrong={
            "everything kept": always(fused_mul_add_logsoftmax_dropout_bmm, training=False),
            "softmax without its logarithm": softmax_in_place_of_its_log,
            "dropout of the product": dropout_of_the_product,
            "one mask for all rows": one_mask_log_softmax,
        },
    ),
)  # fmt: skip
