"""Fusion of KernelBench-X: pointwise steps around a reduction."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close, nearly_ties
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.sizes import ROWS
from benchmark.suites.kernelbench_x._honest import ONCE, rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16, FP32, FP64 = torch.float16, torch.bfloat16, torch.float32, torch.float64

Axes = int | list[int] | tuple[int, ...] | None


def fused_add_mean(
    input: Tensor, other: Tensor | float, dim: Axes = None, alpha: float = 1, keepdim: bool = False,
    dtype: torch.dtype | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Mean of `input + alpha * other` over `dim`: an axis, several axes, or None for all of them, which gives a single number.

    `other` broadcasts against `input`, or is a number; the mean is over the axes of the broadcast sum. With `keepdim` reduced axes
    stay, of length 1. With `dtype` both tensors are converted to it first, and the result has it. With `out` the result is
    written there."""
    if dtype is not None:
        input, other = input.to(dtype), other.to(dtype) if isinstance(other, Tensor) else other
    return into(torch.mean(torch.add(input, other, alpha=alpha), dim, keepdim=keepdim), out)


def add_mean_terms(
    input: Tensor, other: Tensor | float, dim: Axes = None, alpha: float = 1, keepdim: bool = False,
    dtype: torch.dtype | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    other = other.abs() if isinstance(other, Tensor) else abs(other)
    return torch.mean(torch.add(input.abs(), other, alpha=abs(alpha)), dim, keepdim=keepdim)


def fused_exp_mean(
    input: Tensor, dim: Axes = None, keepdim: bool = False, dtype: torch.dtype | None = None, out: Tensor | None = None
) -> Tensor:
    """Mean of `exp(input)` over `dim`: an axis, several axes, or None for all of them, which gives a single number.

    With `keepdim` reduced axes stay, of length 1. With `dtype` the input is converted to it first, and the result has it. With
    `out` the result is written there."""
    return into(torch.mean(torch.exp(input if dtype is None else input.to(dtype)), dim, keepdim=keepdim), out)


def padded_exp_mean(
    input: Tensor, dim: Axes = None, keepdim: bool = False, dtype: torch.dtype | None = None, out: Tensor | None = None
) -> Tensor:
    """One element more, a zero, is summed along the last axis, as a padded block does it."""
    powers = torch.exp(functional.pad(input if dtype is None else input.to(dtype), (0, 1)))
    count = input.exp().sum(dim).numel()
    return into(powers.sum(dim, keepdim=keepdim) * (count / input.numel()), out)


def fused_gelu_min(
    input: Tensor, approximate: str = "none", dim: int | None = None, keepdim: bool = False, out: tuple[Tensor, Tensor] | None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """Smallest GELU. Without `dim` it is one number, the smallest of all `gelu(x)`; with `dim` the pair (values, indices) along
    this axis, indices in int64; `keepdim` keeps the axis, of length 1. NaN counts as the smallest.

    GELU is `x * Phi(x)` with the Gaussian distribution function (`approximate="none"`, through erf), or
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`). `out` is always None here."""
    values = functional.gelu(input, approximate=approximate)
    if dim is None:
        return values.min()
    result = values.min(dim, keepdim=keepdim)
    return result if out is None else (out[0].copy_(result.values), out[1].copy_(result.indices))


def all_gelus(input: Tensor, approximate: str = "none", dim: int | None = None, keepdim: bool = False, out: None = None) -> Tensor:
    return functional.gelu(input, approximate=approximate)


def gelu_of_min(
    input: Tensor, approximate: str = "none", dim: int | None = None, keepdim: bool = False, out: None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """GELU is not monotonic: that of the smallest element is not the smallest."""
    if dim is None:
        return functional.gelu(input.min(), approximate=approximate)
    result = input.min(dim, keepdim=keepdim)
    return functional.gelu(result.values, approximate=approximate), result.indices


def fused_gelu_std(
    input: Tensor, dim: Axes = None, keepdim: bool = False, correction: int = 1, approximate: str = "none", out: Tensor | None = None
) -> Tensor:
    """Standard deviation of `gelu(input)` over `dim`: an axis, several axes, or None for all of them.

    It is `sqrt(sum((g - mean(g))**2) / (n - correction))` for n elements; NaN where 0 is divided by 0. The mean is subtracted
    before squaring. With `keepdim` reduced axes stay, of length 1. GELU is `x * Phi(x)` with the Gaussian distribution function
    (`approximate="none"`, through erf), or `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`).
    With `out` the result is written there."""
    return into(torch.std(functional.gelu(input, approximate=approximate), dim, correction=correction, keepdim=keepdim), out)


def gelu_std_terms(
    input: Tensor, dim: Axes = None, keepdim: bool = False, correction: int = 1, approximate: str = "none", out: Tensor | None = None
) -> Tensor:
    return functional.gelu(input, approximate=approximate).abs().amax(() if dim is None else dim, keepdim=keepdim)


def fused_sum_std(
    input: Tensor, dim: Axes = None, keepdim: bool = False, dtype: torch.dtype | None = None, correction: int = 1,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Standard deviation of sums: the elements are summed over `dim` (an axis, several axes, or None for all of them), then
    `sqrt(sum((s - mean(s))**2) / (n - correction))` of all n sums is one number, a tensor without axes, whatever `keepdim` is.
    It is 0 where n is not above `correction`.

    With `dtype` the input is converted to it first, and the result has it. With `out` the result is written there."""
    sums = torch.sum(input, dim, keepdim=keepdim, dtype=dtype)
    enough = sums.numel() > correction
    return into(torch.std(sums, correction=correction) if enough else sums.new_zeros(()), out)


def sum_std_terms(
    input: Tensor, dim: Axes = None, keepdim: bool = False, dtype: torch.dtype | None = None, correction: int = 1,
    out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return torch.sum(input.abs(), dim).max()


def fused_softmax_log(input: Tensor, dim: int = -1, dtype: torch.dtype | None = None) -> Tensor:
    """`softmax(log(input))` along `dim`, with the natural logarithm: what is at least 0 is divided by its sum, without overflow.

    Zeros have the logarithm -infinity and the share 0; a negative element, or nothing but zeros, makes its whole line NaN. With
    `dtype` the input is converted to it first, and the result has it."""
    return torch.softmax(torch.log(input if dtype is None else input.to(dtype)), dim)


def positive(draw: Draw, *shape: int, dtype: torch.dtype = FP32, scale: float = 1.0) -> Tensor:
    return draw.normal(*shape, scale=scale).exp().to(dtype)


TASKS = (
    Task(
        "kernelbench_x/fused_add_mean",
        "Fusion",
        "fused",
        fused_add_mean,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "other": d.normal(17, 129), "dim": 1},
            "all": lambda d: {"input": d.normal(31, 67), "other": d.normal(31, 67), "alpha": 0.5},
            "fp16-keepdim": lambda d: {
                "input": d.normal(131, 23, dtype=FP16, shift=1), "other": d.normal(131, 23, dtype=FP16), "dim": 0, "keepdim": True
            },
            "bf16-axes": lambda d: {
                "input": d.normal(5, 19, 13, dtype=BF16), "other": d.normal(13, dtype=BF16), "dim": (0, 2), "alpha": -2
            },
            "number": lambda d: {"input": d.normal(13, 71), "other": 1.5, "dim": -1, "alpha": 3},
            "wider": lambda d: {"input": d.normal(11, 257, dtype=FP16), "other": d.normal(11, 1, dtype=FP16), "dim": 1, "dtype": FP32},
            "out": lambda d: {"input": d.normal(7, 83), "other": d.normal(83), "dim": 1, "out": nothing(d, 7)},
            "transposed": lambda d: {"input": transposed(d.normal(19, 61)), "other": d.normal(19, 61), "dim": 0},
            "large": lambda d: {"input": d.normal(7, 509, scale=1e6, shift=1e5), "other": d.normal(7, 509, scale=1e6), "dim": 1},
        }) + hidden({
            "grown-by-other": lambda d: {"input": d.normal(5, 1, 33), "other": d.normal(7, 1), "dim": [1], "alpha": 0.25},
            "outliers": lambda d: {"input": d.outliers(17, 211), "other": d.normal(17, 1), "dim": 1},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 97, dtype=BF16)), "other": offset(d.normal(13, 97, dtype=BF16)), "dim": -1, "keepdim": True
            },
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "other": d.normal(*s), "dim": -1}, ROWS),
        Contract(close(), mutates=("out",), notes=(ONCE,)),
        honest=rounded_once(fused_add_mean),
        magnitude=add_mean_terms,
        wrong={
            "alpha left out": lambda input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None: (
                fused_add_mean(input, other, dim, 1, keepdim, dtype, out)
            ),
            "the last axis always": lambda input, other, dim=None, alpha=1, keepdim=False, dtype=None, out=None: (
                fused_add_mean(input, other, -1, alpha, keepdim, dtype, out)
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_exp_mean",
        "Fusion",
        "fused",
        fused_exp_mean,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": 1},
            "all": lambda d: {"input": d.normal(31, 67, shift=-2)},
            "fp16-keepdim": lambda d: {"input": d.normal(131, 23, dtype=FP16), "dim": 0, "keepdim": True},
            "bf16-axes": lambda d: {"input": d.normal(5, 19, 13, dtype=BF16), "dim": (0, 2)},
            "wider": lambda d: {"input": d.normal(11, 257, dtype=FP16, scale=2), "dim": -1, "dtype": FP32},
            "negative": lambda d: {"input": d.normal(13, 71, shift=-20), "dim": 1},
            "out": lambda d: {"input": d.normal(7, 83), "dim": 1, "out": nothing(d, 7)},
            "transposed": lambda d: {"input": transposed(d.normal(19, 61)), "dim": 0},
            "overflow": lambda d: {"input": d.normal(7, 29).masked_fill(d.uniform(7, 29) < 0.02, 200.0), "dim": 1},
            "one-column": lambda d: {"input": d.normal(43, 1), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input": offset(d.normal(2, 67, 11)), "dim": [1]},
            "rows-apart": lambda d: {"input": d.normal(13, 101) + d.normal(13, 1, scale=10), "dim": 1},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 97, dtype=BF16)), "dim": -1, "keepdim": True},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close(), mutates=("out",), notes=(ONCE,)),
        honest=rounded_once(fused_exp_mean),
        magnitude=lambda input, dim=None, keepdim=False, dtype=None, out=None: torch.mean(torch.exp(input), dim, keepdim=keepdim),
        wrong={
            "a padded lane": padded_exp_mean,
            "exp of the mean": lambda input, dim=None, keepdim=False, dtype=None, out=None: (
                into(torch.exp(torch.mean(input if dtype is None else input.to(dtype), dim, keepdim=keepdim)), out)
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_gelu_min",
        "Fusion",
        "fused",
        fused_gelu_min,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": 1},
            "all": lambda d: {"input": d.normal(31, 67, scale=0.3)},
            "fp16-keepdim": lambda d: {"input": d.normal(61, 23, dtype=FP16, scale=0.2), "dim": 0, "keepdim": True},
            "bf16-tanh": lambda d: {"input": d.normal(19, 83, dtype=BF16, shift=1.5, scale=0.5), "dim": -1, "approximate": "tanh"},
            "tanh": lambda d: {"input": d.normal(13, 71, scale=0.2), "dim": 1, "approximate": "tanh"},
            "positive": lambda d: {"input": d.uniform(11, 101, low=0.5, high=30.0), "dim": 1},
            "far-below": lambda d: {"input": d.normal(13, 37, shift=-2.5, scale=0.4), "dim": 1},
            "ties": lambda d: {"input": d.ties(19, 83) * 0.25 - 1.25 + d.normal(1, scale=0.05), "dim": 1},
            "transposed": lambda d: {"input": transposed(d.normal(17, 61)), "dim": 0, "keepdim": True},
            "nan": lambda d: {"input": d.normal(11, 37).masked_fill(d.uniform(11, 37) < 0.02, math.nan), "dim": 1},
            "one-column": lambda d: {"input": d.normal(43, 1), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input": offset(d.normal(2, 23, 11, shift=1)), "dim": 1},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 29, dtype=BF16, shift=1)), "dim": -1},
            "all-tanh": lambda d: {"input": d.uniform(503, low=0.1, high=5.0), "approximate": "tanh"},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(nearly_ties(), notes=(ONCE,)),
        honest=rounded_once(fused_gelu_min),
        truth=all_gelus,
        wrong={"gelu of the smallest element": gelu_of_min},
    ),
    Task(
        "kernelbench_x/fused_gelu_std",
        "Fusion",
        "fused",
        fused_gelu_std,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": 1},
            "all-tanh": lambda d: {"input": d.normal(31, 67), "approximate": "tanh"},
            "fp16-keepdim": lambda d: {"input": d.normal(131, 23, dtype=FP16), "dim": 0, "keepdim": True},
            "bf16-axes": lambda d: {"input": d.normal(5, 19, 13, dtype=BF16), "dim": (0, 2)},
            "biased": lambda d: {"input": d.normal(23, 7), "dim": 1, "correction": 0},
            "correction-3": lambda d: {"input": d.normal(29, 11), "dim": -1, "correction": 3, "approximate": "tanh"},
            "shifted": lambda d: {"input": d.normal(13, 71, shift=50), "dim": 1},
            "out": lambda d: {"input": d.normal(7, 83), "dim": 1, "out": nothing(d, 7)},
            "transposed": lambda d: {"input": transposed(d.normal(19, 61)), "dim": 0},
            "large": lambda d: {"input": d.normal(7, 509, scale=1e4), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input": offset(d.normal(2, 67, 11)), "dim": [1]},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 97, dtype=BF16)), "dim": -1, "keepdim": True},
            "two-columns": lambda d: {"input": d.normal(43, 2), "dim": 1},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close(), mutates=("out",), notes=(ONCE,)),
        honest=rounded_once(fused_gelu_std),
        magnitude=gelu_std_terms,
        wrong={
            "the other correction": lambda input, dim=None, keepdim=False, correction=1, approximate="none", out=None: (
                fused_gelu_std(input, dim, keepdim, 0 if correction else 1, approximate, out)
            ),
            "the variance": lambda input, dim=None, keepdim=False, correction=1, approximate="none", out=None: (
                into(torch.var(functional.gelu(input, approximate=approximate), dim, correction=correction, keepdim=keepdim), out)
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_sum_std",
        "Fusion",
        "fused",
        fused_sum_std,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": 1},
            "fp16": lambda d: {"input": d.normal(61, 23, dtype=FP16), "dim": 0, "dtype": FP32},
            "bf16-keepdim": lambda d: {"input": d.normal(5, 19, 13, dtype=BF16), "dim": 1, "keepdim": True, "dtype": FP32},
            "biased": lambda d: {"input": d.normal(7, 43), "dim": -1, "correction": 0},
            "correction-3": lambda d: {"input": d.normal(11, 29), "dim": 1, "correction": 3},
            "fp64": lambda d: {"input": d.normal(13, 257), "dim": 1, "dtype": FP64},
            "axes": lambda d: {"input": d.normal(3, 17, 11), "dim": (0, 2)},
            "out": lambda d: {"input": d.normal(7, 83), "dim": 1, "out": nothing(d)},
            "transposed": lambda d: {"input": transposed(d.normal(19, 61)), "dim": 0},
            "all": lambda d: {"input": d.normal(13, 31)},
            "large": lambda d: {"input": d.normal(7, 509, scale=1e6, shift=1e3), "dim": 1},
        }) + hidden({
            "shifted": lambda d: {"input": offset(d.normal(23, 67, shift=5)), "dim": 0},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 97, dtype=BF16)), "dim": -1, "dtype": FP32},
            "two-sums": lambda d: {"input": d.outliers(2, 401), "dim": 1, "keepdim": True},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close(), mutates=("out",)),
        magnitude=sum_std_terms,
        wrong={
            "the other correction": lambda input, dim=None, keepdim=False, dtype=None, correction=1, out=None: (
                fused_sum_std(input, dim, keepdim, dtype, 0 if correction else 1, out)
            ),
            "of the means": lambda input, dim=None, keepdim=False, dtype=None, correction=1, out=None: (
                fused_sum_std(torch.mean(input, dim, dtype=dtype)[None], 0, keepdim, dtype, correction, out)
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_softmax_log",
        "Fusion",
        "fused",
        fused_softmax_log,
        shown({
            "fp32": lambda d: {"input": positive(d, 17, 129), "dim": 1},
            "fp64": lambda d: {"input": positive(d, 11, 67, dtype=FP64), "dim": -1},
            "fp16": lambda d: {"input": positive(d, 13, 67, dtype=FP16), "dim": 1},
            "bf16-axis-0": lambda d: {"input": positive(d, 61, 19, dtype=BF16), "dim": 0},
            "wider": lambda d: {"input": positive(d, 11, 257, dtype=FP16), "dim": -1, "dtype": FP32},
            "middle": lambda d: {"input": positive(d, 2, 47, 7, scale=3), "dim": 1},
            "transposed": lambda d: {"input": transposed(positive(d, 17, 61)), "dim": -1},
            "large": lambda d: {"input": positive(d, 11, 101) * 1e37, "dim": -1},
            "zeros": lambda d: {"input": positive(d, 11, 37).masked_fill(d.uniform(11, 37) < 0.4, 0.0), "dim": -1},
            "undefined": lambda d: {"input": d.normal(23, 5, shift=2), "dim": -1},
            "empty": lambda d: {"input": positive(d, 0, 5), "dim": -1},
        }) + hidden({
            "small": lambda d: {"input": positive(d, 13, 89) * 1e-35, "dim": 1},
            "strided-bf16": lambda d: {"input": strided(positive(d, 13, 97, dtype=BF16)), "dim": -1},
            "cube": lambda d: {"input": offset(positive(d, 2, 3, 2, 53)), "dim": 3},
        }),
        timed(lambda d, *s: {"input": d.uniform(*s, low=0.1, high=4.0), "dim": -1}, ROWS),
        Contract(close("dim"), notes=(ONCE,)),
        honest=rounded_once(fused_softmax_log),
        wrong={
            "log of softmax": lambda input, dim=-1, dtype=None: torch.log_softmax(input, dim, dtype=dtype),
            "no logarithm": lambda input, dim=-1, dtype=None: torch.softmax(input, dim, dtype=dtype),
        },
    ),
)  # fmt: skip
