"""Convolution of KernelBench-X."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16
Pair = int | tuple[int, int]
NOTES = (
    "Products of fp16 and bf16 values are summed in float32 together with the bias, and rounded once, at the end.",
    "`stride`, `padding`, `dilation` and `output_padding` are a number for both axes, or a pair (height, width).",
)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Tensor:
    """2D cross-correlation of `input` (N, C, H, W) with `weight` (O, C / groups, KH, KW), plus `bias` (O):

    `out[n, o, y, x] = bias[o] + sum over c, i, j of weight[o, c, i, j] * input[n, g * C / groups + c, y * stride + i * dilation -
    padding, x * stride + j * dilation - padding]`, with g the group of the output channel, o // (O / groups), and zeros beyond the
    edges. The height of the result is (H + 2 * padding - dilation * (KH - 1) - 1) // stride + 1, the width likewise."""
    return functional.conv2d(input, weight, bias, stride, padding, dilation, groups)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    output_padding: Pair = 0,
    groups: int = 1,
    dilation: Pair = 1,
) -> Tensor:
    """2D transposed convolution of `input` (N, C, H, W) with `weight` (C, O / groups, KH, KW), plus `bias` (O): each element
    input[n, c, y, x] adds `input * weight[c, o, i, j]` to the result at (n, g * O / groups + o, y * stride + i * dilation - padding,
    x * stride + j * dilation - padding), with g = c // (C / groups), where that lies inside the result. Its height is
    (H - 1) * stride - 2 * padding + dilation * (KH - 1) + output_padding + 1, its width likewise."""
    return functional.conv_transpose2d(input, weight, bias, stride, padding, output_padding, groups, dilation)


# The convolutions of a GPU's library use TF32 for fp32 by default. fp64 has no such short cut: rounded once, it sets the budget.
def honest_conv2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    wide = bias if bias is None else bias.double()
    return functional.conv2d(input.double(), weight.double(), wide, **options).to(input.dtype)


def honest_transpose(input: Tensor, weight: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    wide = bias if bias is None else bias.double()
    return functional.conv_transpose2d(input.double(), weight.double(), wide, **options).to(input.dtype)


def conv2d_terms(input: Tensor, weight: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    return functional.conv2d(input.abs(), weight.abs(), None if bias is None else bias.abs(), **options)


def transpose_terms(input: Tensor, weight: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    return functional.conv_transpose2d(input.abs(), weight.abs(), None if bias is None else bias.abs(), **options)


def flipped(input: Tensor, weight: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    """The convolution of mathematics, which turns the kernel around."""
    return functional.conv2d(input, weight.flip(-1, -2), bias, **options)


def drawn(
    d: Draw, image: tuple[int, ...], kernel: tuple[int, ...], bias: int = 0, dtype: torch.dtype = torch.float32, scale: float = 1.0
) -> Arguments:
    arguments = {"input": d.normal(*image, dtype=dtype, scale=scale), "weight": d.normal(*kernel, dtype=dtype, scale=0.3)}
    return arguments | ({"bias": d.normal(bias, dtype=dtype)} if bias else {})


def layer(d: Draw, batch: int, channels: int, side: int) -> Arguments:
    return drawn(d, (batch, channels, side, side), (channels, channels, 3, 3), channels, FP16)


LAYERS = ((1, 16, 32), (8, 64, 56), (16, 128, 56), (32, 256, 56))
TASKS = (
    Task(
        "kernelbench_x/conv2d",
        "Convolution",
        "torch.nn.functional",
        conv2d,
        shown({
            "fp32": lambda d: drawn(d, (2, 3, 13, 11), (7, 3, 3, 3), 7),
            "fp16": lambda d: drawn(d, (1, 16, 12, 12), (16, 16, 3, 3), 16, FP16) | {"padding": 1},
            "bf16": lambda d: drawn(d, (2, 5, 9, 14), (6, 5, 3, 3), 6, BF16) | {"padding": 1},
            "stride": lambda d: drawn(d, (2, 4, 17, 19), (8, 4, 3, 3)) | {"stride": 2, "padding": 1},
            "dilation": lambda d: drawn(d, (1, 3, 19, 17), (5, 3, 3, 3), 5) | {"dilation": 2, "padding": 2},
            "groups": lambda d: drawn(d, (2, 6, 11, 13), (9, 2, 3, 3), 9) | {"groups": 3, "padding": 1},
            "depthwise": lambda d: drawn(d, (1, 8, 11, 11), (8, 1, 5, 5)) | {"groups": 8, "padding": 2},
            "pairs": lambda d: drawn(d, (1, 3, 23, 14), (4, 3, 5, 2), 4) | {"stride": (2, 1), "padding": (3, 0), "dilation": (1, 3)},
            "pointwise-transposed": lambda d: moved(drawn(d, (1, 13, 11, 17), (5, 13, 1, 1), 5)),
            "empty": lambda d: drawn(d, (0, 3, 7, 7), (4, 3, 3, 3), 4),
        }) + hidden({
            "large": lambda d: drawn(d, (1, 7, 13, 13), (3, 7, 3, 3), 3, scale=1e4) | {"padding": 2},
            "strided-bf16": lambda d: {n: strided(t) for n, t in drawn(d, (2, 4, 9, 11), (6, 2, 3, 3), 6, BF16).items()} | {"groups": 2},
            "whole-outliers": lambda d: {"input": d.outliers(2, 5, 9, 7), "weight": offset(d.normal(4, 5, 9, 7))},
        }),
        timed(layer, LAYERS),
        Contract(close(), notes=NOTES),
        honest=honest_conv2d,
        magnitude=conv2d_terms,
        wrong={
            "the kernel turned around": flipped,
            "no bias": lambda bias=None, **a: conv2d(**a),
            "no dilation": lambda **a: conv2d(**a | {"dilation": 1}),
        },
    ),
    Task(
        "kernelbench_x/conv_transpose2d",
        "Convolution",
        "torch.nn.functional",
        conv_transpose2d,
        shown({
            "fp32": lambda d: drawn(d, (2, 3, 9, 7), (3, 7, 3, 3), 7),
            "fp16": lambda d: drawn(d, (1, 16, 8, 8), (16, 16, 3, 3), 16, FP16) | {"padding": 1},
            "bf16": lambda d: drawn(d, (2, 5, 7, 9), (5, 6, 3, 3), 6, BF16) | {"stride": 2},
            "upsample": lambda d: drawn(d, (1, 8, 7, 7), (8, 5, 4, 4), 5) | {"stride": 2, "padding": 1},
            "output-padding": lambda d: drawn(d, (2, 4, 7, 9), (4, 6, 3, 3), 6) | {"stride": 2, "padding": 1, "output_padding": 1},
            "groups": lambda d: drawn(d, (1, 6, 9, 7), (6, 3, 3, 3), 9) | {"groups": 3, "padding": 1},
            "dilation": lambda d: drawn(d, (1, 3, 7, 8), (3, 5, 3, 3)) | {"dilation": 2, "stride": 1},
            "pairs": lambda d: drawn(d, (1, 3, 5, 11), (3, 4, 4, 2), 4)
            | {"stride": (3, 1), "padding": (2, 0), "output_padding": (1, 0), "dilation": (1, 2)},
            "transposed": lambda d: moved(drawn(d, (1, 7, 9, 11), (7, 5, 2, 2), 5)) | {"stride": 2},
            "gaps": lambda d: drawn(d, (2, 3, 5, 6), (3, 4, 1, 1), 4) | {"stride": 2},
        }) + hidden({
            "large": lambda d: drawn(d, (1, 7, 9, 9), (7, 3, 3, 3), 3, scale=1e4) | {"padding": 2},
            "strided-bf16": lambda d: {n: strided(t) for n, t in drawn(d, (2, 4, 7, 5), (4, 3, 3, 3), 6, BF16).items()} | {"groups": 2},
            "dilated-groups": lambda d: drawn(d, (1, 4, 6, 7), (4, 2, 3, 3), 4)
            | {"groups": 2, "dilation": 3, "stride": 2, "output_padding": 1},
        }),
        timed(layer, LAYERS),
        Contract(close(), notes=NOTES),
        honest=honest_transpose,
        magnitude=transpose_terms,
        wrong={
            "the kernel turned around": lambda **a: conv_transpose2d(**a | {"weight": a["weight"].flip(-1, -2)}),
            "no bias": lambda bias=None, **a: conv_transpose2d(**a),
        },
    ),
)  # fmt: skip


def moved(arguments: Arguments) -> Arguments:
    return {name: transposed(value) if value.dim() > 1 else value for name, value in arguments.items()}
