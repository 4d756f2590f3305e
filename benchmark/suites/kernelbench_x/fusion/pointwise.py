"""Fusion of KernelBench-X: pointwise operators."""

import math

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.sizes import POINTS
from benchmark.suites.kernelbench_x._honest import ONCE, rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16, FP64 = torch.float16, torch.bfloat16, torch.float64


def fused_add_gelu(input: Tensor, other: Tensor | float, alpha: float = 1, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    """`gelu(input + alpha * other)`; `other` broadcasts against `input`, or is a number.

    `approximate` chooses the form: "none" is `x * Phi(x)` with the Gaussian distribution function (through erf), "tanh" is
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`. `out` is always None here."""
    return into(functional.gelu(torch.add(input, other, alpha=alpha), approximate=approximate), out)


def rounded_add_gelu(
    input: Tensor, other: Tensor | float, alpha: float = 1, approximate: str = "none", out: Tensor | None = None
) -> Tensor:
    return into(functional.gelu(input + other * alpha, approximate=approximate), out)


def fused_sub_gelu(input: Tensor, other: Tensor | float, alpha: float = 1, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    """`gelu(input - alpha * other)`; `other` broadcasts against `input`, or is a number.

    `approximate` chooses the form: "none" is `x * Phi(x)` with the Gaussian distribution function (through erf), "tanh" is
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`. With `out` the result is written there."""
    return into(functional.gelu(torch.sub(input, other, alpha=alpha), approximate=approximate), out)


def fused_mul_sub(
    input: Tensor, other_mul: Tensor | float, other_sub: Tensor | float, alpha: float = 1, out: Tensor | None = None
) -> Tensor:
    """`input * other_mul - alpha * other_sub`, element by element; both others broadcast against `input`, or are numbers.
    Integers stay integers. With `out` the result is written there."""
    return into(input * other_mul - alpha * other_sub, out)


def mul_sub_terms(
    input: Tensor, other_mul: Tensor | float, other_sub: Tensor | float, alpha: float = 1, out: Tensor | None = None
) -> Tensor:
    subtracted: Tensor | float = alpha * other_sub
    return (input * other_mul).abs() + (subtracted.abs() if isinstance(subtracted, Tensor) else abs(subtracted))


def fused_log_tanh(input: Tensor, out: Tensor | None = None) -> Tensor:
    """`tanh(log(x))` of each element, with the natural logarithm; all elements are positive. It is 1 for infinity.
    With `out` the result is written there."""
    return into(torch.tanh(torch.log(input)), out)


def fused_relu_sqrt(input: Tensor, inplace: bool = False, out: Tensor | None = None) -> Tensor:
    """`sqrt(max(x, 0))` of each element. Negative numbers give 0, NaN stays NaN, integers are converted to fp32 first.

    With `inplace` (floating-point inputs only) the result is written into `input`, which is returned; otherwise, with `out`, it
    is written there."""
    result = torch.sqrt(torch.relu(input if input.is_floating_point() else input.float()))
    return into(result, input if inplace else out)


def fused_cos_signbit(input: Tensor) -> tuple[Tensor, Tensor]:
    """The pair `(cos(x), signbit(cos(x)))`, element by element. The second one is boolean: true where the cosine is negative."""
    cosine = torch.cos(input)
    return cosine, torch.signbit(cosine)


def positive(draw: Draw, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Positive numbers of all magnitudes around 1."""
    return draw.normal(*shape, scale=2).exp().to(dtype)


def mul_sub_points(draw: Draw, n: int) -> Arguments:
    return {"input": draw.normal(n), "other_mul": draw.normal(n), "other_sub": draw.normal(n), "alpha": 0.5}


TASKS = (
    Task(
        "kernelbench_x/fused_add_gelu",
        "Fusion",
        "fused",
        fused_add_gelu,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "other": d.normal(4099)},
            "fp16-alpha": lambda d: {"input": d.normal(37, 41, dtype=FP16), "other": d.normal(37, 41, dtype=FP16), "alpha": 0.5},
            "bf16-tanh": lambda d: {"input": d.normal(997, dtype=BF16), "other": d.normal(997, dtype=BF16), "approximate": "tanh"},
            "tanh-alpha": lambda d: {"input": d.normal(1009), "other": d.normal(1009), "alpha": -2, "approximate": "tanh"},
            "bias": lambda d: {"input": d.normal(17, 31), "other": d.normal(31)},
            "number": lambda d: {"input": d.normal(769), "other": -0.75, "alpha": 2},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "other": d.normal(29, 43)},
            "large": lambda d: {"input": d.normal(769, scale=1e4), "other": d.outliers(769), "alpha": 3},
            "empty": lambda d: {"input": d.normal(0, 5), "other": d.normal(0, 5)},
        }) + hidden({
            "broadcast-both": lambda d: {"input": d.normal(5, 1, 33), "other": d.normal(7, 1), "approximate": "tanh"},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 67, dtype=BF16)), "other": d.normal(13, 67, dtype=BF16), "alpha": 0.25
            },
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "other": offset(d.outliers(2, 3, 173), 1), "alpha": -3},
        }),
        timed(lambda d, n: {"input": d.normal(n, dtype=FP16), "other": d.normal(n, dtype=FP16)}, POINTS),
        Contract(close()),
        honest=rounded_add_gelu,
    ),
    Task(
        "kernelbench_x/fused_sub_gelu",
        "Fusion",
        "fused",
        fused_sub_gelu,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "other": d.normal(4099)},
            "fp16-alpha": lambda d: {"input": d.normal(37, 41, dtype=FP16), "other": d.normal(37, 41, dtype=FP16), "alpha": 0.5},
            "bf16-tanh": lambda d: {"input": d.normal(997, dtype=BF16), "other": d.normal(997, dtype=BF16), "approximate": "tanh"},
            "tanh-alpha": lambda d: {"input": d.normal(1009), "other": d.normal(1009), "alpha": -2, "approximate": "tanh"},
            "row": lambda d: {"input": d.normal(17, 31), "other": d.normal(31)},
            "column": lambda d: {"input": d.normal(23, 19), "other": d.normal(23, 1), "alpha": 3},
            "number": lambda d: {"input": d.normal(769), "other": -0.75, "alpha": 2},
            "out": lambda d: {"input": d.normal(13, 59), "other": d.normal(13, 59), "out": nothing(d, 13, 59)},
            "large": lambda d: {"input": d.normal(769, scale=1e4), "other": d.outliers(769), "approximate": "tanh"},
            "empty": lambda d: {"input": d.normal(0, 5), "other": d.normal(5)},
        }) + hidden({
            "broadcast-both": lambda d: {"input": d.normal(5, 1, 33), "other": d.normal(7, 1), "approximate": "tanh"},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 67, dtype=BF16)), "other": transposed(d.normal(13, 67, dtype=BF16)), "alpha": 0.25
            },
            "offset-tails": lambda d: {"input": offset(d.uniform(2, 3, 173, low=-5, high=3)), "other": offset(d.normal(2, 3, 173), 1)},
        }),
        timed(lambda d, n: {"input": d.normal(n), "other": d.normal(n)}, POINTS),
        Contract(close(), mutates=("out",), notes=(ONCE,)),
        honest=rounded_once(fused_sub_gelu),
        wrong={
            "the sum instead": lambda input, other, alpha=1, approximate="none", out=None: (
                fused_sub_gelu(input, other, -alpha, approximate, out)
            ),
            "alpha on the input": lambda input, other, alpha=1, approximate="none", out=None: (
                fused_sub_gelu(alpha * input, other, 1, approximate, out)
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_mul_sub",
        "Fusion",
        "fused",
        fused_mul_sub,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "other_mul": d.normal(4099), "other_sub": d.normal(4099)},
            "fp16-alpha": lambda d: {
                "input": d.normal(37, 41, dtype=FP16), "other_mul": d.normal(37, 41, dtype=FP16),
                "other_sub": d.normal(37, 41, dtype=FP16), "alpha": 0.5,
            },
            "bf16": lambda d: {"input": d.normal(997, dtype=BF16), "other_mul": 1.5, "other_sub": d.normal(997, dtype=BF16), "alpha": 3},
            "numbers": lambda d: {"input": d.normal(1009), "other_mul": -2.5, "other_sub": 0.75, "alpha": -2},
            "row-and-column": lambda d: {"input": d.normal(17, 31), "other_mul": d.normal(31), "other_sub": d.normal(17, 1), "alpha": 2},
            "out": lambda d: {"input": d.normal(7, 83), "other_mul": d.normal(7, 83), "other_sub": 1.25, "out": nothing(d, 7, 83)},
            "transposed": lambda d: {
                "input": transposed(d.normal(29, 43)), "other_mul": d.normal(29, 43), "other_sub": transposed(d.normal(29, 43))
            },
            "large": lambda d: {"input": d.normal(769, scale=1e6), "other_mul": d.outliers(769), "other_sub": d.normal(769, scale=1e6)},
            "int64": lambda d: {
                "input": d.integers(-9999, 9999, 1021), "other_mul": d.integers(-99, 99, 1021), "other_sub": d.integers(-999, 999, 1021),
                "alpha": 3,
            },
            "empty": lambda d: {"input": d.normal(0, 5), "other_mul": d.normal(0, 5), "other_sub": 1.0},
        }) + hidden({
            "broadcast-all": lambda d: {"input": d.normal(5, 1, 33), "other_mul": d.normal(7, 1), "other_sub": d.normal(2, 5, 7, 1)},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 67, dtype=BF16)), "other_mul": strided(d.normal(13, 67, dtype=BF16), 3),
                "other_sub": d.normal(67, dtype=BF16), "alpha": 0.25,
            },
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "other_mul": offset(d.outliers(2, 3, 173), 1), "other_sub": 7.0},
        }),
        timed(mul_sub_points, POINTS),
        Contract(close(), mutates=("out",), notes=(ONCE,)),
        honest=rounded_once(fused_mul_sub),
        magnitude=mul_sub_terms,
        wrong={
            "alpha on the product": lambda input, other_mul, other_sub, alpha=1, out=None: (
                into(alpha * (input * other_mul) - other_sub, out)
            ),
            "alpha left out": lambda input, other_mul, other_sub, alpha=1, out=None: into(input * other_mul - other_sub, out),
        },
    ),
    Task(
        "kernelbench_x/fused_log_tanh",
        "Fusion",
        "fused",
        fused_log_tanh,
        shown({
            "fp32": lambda d: {"input": positive(d, 4099)},
            "fp16": lambda d: {"input": positive(d, 37, 41, dtype=FP16)},
            "bf16": lambda d: {"input": positive(d, 997, dtype=BF16)},
            "near-one": lambda d: {"input": 1 + d.normal(769, scale=1e-3)},
            "transposed": lambda d: {"input": transposed(positive(d, 29, 43))},
            "out": lambda d: {"input": positive(d, 5, 7, 31), "out": nothing(d, 5, 7, 31)},
            "wide": lambda d: {"input": d.normal(509, scale=20).exp()},
            "infinite": lambda d: {"input": positive(d, 127).masked_fill(d.uniform(127) < 0.1, math.inf)},
            "one": lambda d: {"input": positive(d, 1)},
            "empty": lambda d: {"input": positive(d, 3, 0)},
        }) + hidden({
            "strided-bf16": lambda d: {"input": strided(positive(d, 13, 67, dtype=BF16))},
            "offset": lambda d: {"input": offset(positive(d, 2, 3, 173))},
            "tiny": lambda d: {"input": d.uniform(1021, low=0.7, high=1.4) * 1e-38 + d.ties(1021, levels=2)},
        }),
        timed(lambda d, n: {"input": d.uniform(n, low=0.1, high=4.0)}, POINTS),
        Contract(close(), mutates=("out",), notes=(ONCE,)),
        honest=rounded_once(fused_log_tanh),
        wrong={
            "log of one plus x": lambda input, out=None: into(torch.tanh(torch.log1p(input)), out),
            "base two": lambda input, out=None: into(torch.tanh(torch.log2(input)), out),
        },
    ),
    Task(
        "kernelbench_x/fused_relu_sqrt",
        "Fusion",
        "fused",
        fused_relu_sqrt,
        shown({
            "fp32": lambda d: {"input": d.normal(4099)},
            "fp64": lambda d: {"input": d.normal(31, 67, dtype=FP64)},
            "int64": lambda d: {"input": d.integers(-99, 9999, 1021)},
            "fp16": lambda d: {"input": d.normal(37, 41, dtype=FP16, scale=10)},
            "bf16": lambda d: {"input": d.normal(997, dtype=BF16)},
            "inplace": lambda d: {"input": d.normal(17, 61), "inplace": True},
            "out": lambda d: {"input": d.normal(13, 59), "out": nothing(d, 13, 59)},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43))},
            "nan-and-infinite": lambda d: {
                "input": d.normal(211).masked_fill(d.uniform(211) < 0.1, math.nan).masked_fill(d.uniform(211) < 0.1, math.inf)
            },
            "empty": lambda d: {"input": d.normal(0)},
        }) + hidden({
            "small": lambda d: {"input": d.normal(769, scale=1e-30)},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 67, dtype=BF16))},
            "inplace-offset": lambda d: {"input": offset(d.outliers(2, 3, 173)), "inplace": True},
        }),
        timed(lambda d, n: {"input": d.normal(n)}, POINTS),
        Contract(close(), mutates=("out", "input if inplace"), notes=("The sign of a zero is free.",)),
        wrong={
            "of the absolute value": lambda input, inplace=False, out=None: (
                into(torch.sqrt(input.abs().to(input.dtype if input.is_floating_point() else torch.float32)), input if inplace else out)
            ),
            "root before relu": lambda input, inplace=False, out=None: (
                into(torch.relu(torch.sqrt(input if input.is_floating_point() else input.float())), input if inplace else out)
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_cos_signbit",
        "Fusion",
        "fused",
        fused_cos_signbit,
        shown({
            "fp32": lambda d: {"input": d.normal(4099, scale=3)},
            "fp16": lambda d: {"input": d.normal(37, 41, dtype=FP16, scale=3)},
            "bf16": lambda d: {"input": d.normal(997, dtype=BF16, scale=3)},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43, scale=3))},
            "hundreds": lambda d: {"input": d.normal(769, scale=300)},
            "large": lambda d: {"input": d.normal(769, scale=1e5)},
            "small": lambda d: {"input": d.normal(251, scale=1e-5, shift=math.pi)},
            "whole-numbers": lambda d: {"input": d.ties(211, levels=50)},
            "one": lambda d: {"input": d.normal(1, scale=3)},
            "empty": lambda d: {"input": d.normal(0, 5)},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(5, 7, 31)},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 67, dtype=BF16, scale=3))},
            "offset": lambda d: {"input": offset(d.uniform(2, 3, 173, low=-20, high=20))},
        }),
        timed(lambda d, n: {"input": d.normal(n, scale=3)}, POINTS),
        Contract(close()),
        wrong={
            "sign of the argument": lambda input: (torch.cos(input), torch.signbit(input)),
            "the sine": lambda input: (torch.sin(input), torch.signbit(torch.sin(input))),
        },
    ),
)  # fmt: skip
