"""Fusion of KernelBench-X: convolutions followed by what is done to each element, to windows, or to the layout."""

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.suites.kernelbench_x.fusion._cases import shared
from benchmark.task import Arguments, Case, Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16
Pair = int | tuple[int, int]
INPLACE_NOTE = "`inplace` concerns the convolution's own result, which nobody else sees: no argument is written."


def drawn(
    d: Draw, shape: tuple[int, ...], filters: tuple[int, ...], bias: bool = True, dtype: torch.dtype = torch.float32, scale: float = 1.0
) -> Arguments:
    """An image, filters scaled so that results have about the size of the image's values, and biases."""
    weight = d.normal(*filters, dtype=dtype, scale=(filters[1] * filters[2] * filters[3]) ** -0.5)
    biases = {"bias": d.normal(filters[0], dtype=dtype, scale=0.5 * scale)} if bias else {}
    return {"input": d.normal(*shape, dtype=dtype, scale=scale), "weight": weight} | biases


def with_input(arguments: Arguments, input: Tensor) -> Arguments:
    return arguments | {"input": input}


SHOWN = {
    "fp32": lambda d: drawn(d, (2, 3, 9, 11), (8, 3, 3, 3)),
    "fp16-padded": lambda d: drawn(d, (1, 5, 7, 13), (12, 5, 3, 3), dtype=FP16) | {"padding": 1},
    "bf16-stride": lambda d: drawn(d, (2, 4, 11, 9), (8, 4, 3, 3), dtype=BF16, bias=False) | {"stride": 2},
    "groups": lambda d: drawn(d, (1, 8, 7, 9), (12, 2, 3, 3)) | {"groups": 4, "padding": (1, 0)},
    "depthwise-dilated": lambda d: drawn(d, (1, 8, 11, 10), (8, 1, 3, 3)) | {"groups": 8, "dilation": 2, "padding": 2},
    "rectangular": lambda d: drawn(d, (1, 3, 13, 9), (4, 3, 5, 2), bias=False) | {"stride": (2, 1), "dilation": (1, 3)},
    "transposed": lambda d: with_input(drawn(d, (1, 6, 8, 7), (8, 6, 3, 2)), transposed(d.normal(1, 6, 8, 7))),
    "large": lambda d: drawn(d, (1, 3, 8, 9), (4, 3, 3, 3), scale=1e4),
    "small-pointwise": lambda d: drawn(d, (1, 67, 3, 5), (8, 67, 1, 1), scale=1e-4),
    "nothing": lambda d: drawn(d, (0, 3, 5, 6), (4, 3, 3, 3)),
}
HIDDEN = {
    "offset-groups": lambda d: (
        with_input(drawn(d, (2, 6, 9, 7), (8, 3, 3, 3)), offset(d.normal(2, 6, 9, 7))) | {"groups": 2, "stride": (1, 2), "padding": (2, 1)}
    ),
    "strided-bf16": lambda d: with_input(drawn(d, (1, 5, 9, 8), (8, 5, 3, 3), dtype=BF16), strided(d.normal(1, 5, 9, 8, dtype=BF16))),
    "outliers": lambda d: with_input(drawn(d, (1, 4, 10, 7), (4, 4, 3, 3)), d.outliers(1, 4, 10, 7)) | {"padding": 1},
}
SIZES = ((1, 16, 32, 32), (8, 64, 56, 64), (16, 128, 56, 128), (16, 256, 56, 256))


cases = partial(shared, SHOWN, HIDDEN)
"""The common images and filters with further options of a task by case, and cases of its own."""


def images(d: Draw, count: int, channels: int, side: int, filters: int) -> Arguments:
    return drawn(d, (count, channels, side, side), (filters, channels, 3, 3), dtype=FP16) | {"padding": 1}


def terms(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    **_: Any,
) -> Tensor:
    """The sum of the absolute terms of each result of the convolution; what follows it stretches differences by at most 1.13."""
    return functional.conv2d(input.abs(), weight.abs(), None if bias is None else bias.abs(), stride, padding, dilation, groups)


def fused_gelu_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair | str = 0,
    dilation: Pair = 1,
    groups: int = 1,
    approximate: str = "none",
    out: Tensor | None = None,
) -> Tensor:
    """GELU of a 2-d convolution by the rules of torch.nn.functional.conv2d: `input` (N, C, H, W), `weight` (K, C / groups, R, S),
    `bias` (K,) or None; stride, padding and dilation are a number or a pair (rows, columns), and padding may be "valid" (none) or
    "same" (with stride 1 and odd filters: the result has the size of the image). `approximate` is "none" (`y * Phi(y)` through erf)
    or "tanh" (`0.5 * y * (1 + tanh(sqrt(2 / pi) * (y + 0.044715 * y**3)))`). With `out` the result is written there, and `out` is
    returned."""
    result = functional.gelu(functional.conv2d(input, weight, bias, stride, padding, dilation, groups), approximate=approximate)
    return into(result, out)


def fused_leaky_relu_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    negative_slope: float = 0.01,
    inplace: bool = False,
) -> Tensor:
    """Leaky ReLU (`y` where `y > 0`, else `negative_slope * y`) of a 2-d convolution by the rules of torch.nn.functional.conv2d:
    `input` (N, C, H, W), `weight` (K, C / groups, R, S), `bias` (K,) or None; stride, padding and dilation are a number or a pair
    (rows, columns). `inplace` changes nothing that the caller sees."""
    result = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    return functional.leaky_relu(result, negative_slope, inplace)


def fused_relu_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    inplace: bool = False,
) -> Tensor:
    """`max(0, y)` of a 2-d convolution `y` by the rules of torch.nn.functional.conv2d: `input` (N, C, H, W), `weight`
    (K, C / groups, R, S), `bias` (K,) or None; stride, padding and dilation are a number or a pair (rows, columns). `inplace`
    changes nothing that the caller sees."""
    return functional.relu(functional.conv2d(input, weight, bias, stride, padding, dilation, groups), inplace)


def fused_conv2d_add(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    other: Tensor | float | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    alpha: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """`y + alpha * other` of a 2-d convolution `y` by the rules of torch.nn.functional.conv2d: `input` (N, C, H, W), `weight`
    (K, C / groups, R, S), `bias` (K,) or None; stride, padding and dilation are a number or a pair (rows, columns). `other` is a
    tensor that broadcasts to `y`, a number, or None (nothing is added). With `out` the result is written there, and `out` is
    returned."""
    result = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    result = result if other is None else result + alpha * other
    return into(result, out)


def sum_terms(input: Tensor, weight: Tensor, other: Tensor | float | None = None, alpha: float = 1, **rest: Any) -> Tensor:
    of_convolution = terms(input, weight, **rest)
    return of_convolution if other is None else of_convolution + torch.as_tensor(alpha * other).abs()


def fused_pixel_shuffle_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    upscale_factor: int = 2,
) -> Tensor:
    """A 2-d convolution by the rules of torch.nn.functional.conv2d (`input` (N, C, H, W), `weight` (K, C / groups, R, S), `bias`
    (K,) or None; stride, padding and dilation are a number or a pair), whose K = C' * r * r channels are then laid out as images
    r times as high and wide: `result[n, c, h * r + i, w * r + j] = y[n, c * r * r + i * r + j, h, w]` with r = upscale_factor."""
    return functional.pixel_shuffle(functional.conv2d(input, weight, bias, stride, padding, dilation, groups), upscale_factor)


def columns_first(input: Tensor, weight: Tensor, upscale_factor: int = 2, **rest: Any) -> Tensor:
    y, r = functional.conv2d(input, weight, **rest), upscale_factor
    return y.unflatten(1, (-1, r, r)).permute(0, 1, 4, 3, 5, 2).flatten(2, 3).flatten(3, 4)


def fused_relu_max_pool2d_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    conv_stride: Pair = 1,
    conv_padding: Pair = 0,
    conv_dilation: Pair = 1,
    conv_groups: int = 1,
    pool_kernel_size: Pair = 2,
    pool_stride: Pair | None = None,
    pool_padding: Pair = 0,
    pool_dilation: Pair = 1,
    pool_ceil_mode: bool = False,
    inplace: bool = False,
) -> Tensor:
    """A 2-d convolution (rules of torch.nn.functional.conv2d: `input` (N, C, H, W), `weight` (K, C / groups, R, S), `bias` (K,)
    or None), then the maximum over windows (rules of torch.nn.functional.max_pool2d: padding counts as -inf, `pool_stride` None
    is the kernel's size, `pool_ceil_mode` keeps a last window that begins inside the image or its left padding), then
    `max(0, x)`. Sizes are a number or a pair (rows, columns). `inplace` changes nothing that the caller sees."""
    result = functional.conv2d(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    result = functional.max_pool2d(result, pool_kernel_size, pool_stride, pool_padding, pool_dilation, pool_ceil_mode)
    return functional.relu(result, inplace)


def pooled_terms(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    conv_stride: Any = 1,
    conv_padding: Any = 0,
    conv_dilation: Any = 1,
    conv_groups: int = 1,
    **pooling: Any,
) -> Tensor:
    """The largest of the window's sums of absolute terms."""
    of_convolution = terms(input, weight, bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    size, step, padding = pooling.get("pool_kernel_size", 2), pooling.get("pool_stride"), pooling.get("pool_padding", 0)
    return functional.max_pool2d(of_convolution, size, step, padding, pooling.get("pool_dilation", 1), pooling.get("pool_ceil_mode", False))


def floor_mode(pool_ceil_mode: bool = False, pool_padding: Any = 0, **rest: Any) -> Tensor:
    """Windows beyond the last whole one answered with zeros."""
    right = fused_relu_max_pool2d_conv2d(**rest, pool_padding=pool_padding, pool_ceil_mode=pool_ceil_mode)
    short = fused_relu_max_pool2d_conv2d(**rest, pool_padding=pool_padding)
    return functional.pad(short, (0, right.shape[3] - short.shape[3], 0, right.shape[2] - short.shape[2]))


def prefixed(arguments: Arguments) -> Arguments:
    """The convolution's options under the names that they have beside those of pooling."""
    options = ("stride", "padding", "dilation", "groups")
    return {f"conv_{name}" if name in options else name: value for name, value in arguments.items()}


POOLINGS: dict[str, Arguments] = {
    "fp16-padded": {"pool_stride": 1, "inplace": True},
    "groups": {"pool_kernel_size": 2, "pool_stride": 2, "pool_ceil_mode": True},
    "depthwise-dilated": {"pool_kernel_size": (2, 3), "pool_dilation": 2, "pool_stride": (1, 2)},
    "large": {"pool_padding": 1, "pool_kernel_size": 3},
    "offset-groups": {"pool_kernel_size": (3, 2), "pool_padding": (1, 0), "pool_ceil_mode": True},
}


def pooled_cases() -> tuple[Case, ...]:
    def pooled(makers: dict[str, Any]) -> dict[str, Any]:
        return {name: lambda d, name=name: prefixed(makers[name](d)) | POOLINGS.get(name, {}) for name in makers}

    return shown(pooled(SHOWN)) + hidden(pooled(HIDDEN))


def ignoring(reference: Any, *names: str) -> Any:
    """A wrong answer: `reference` without some of its options."""
    return lambda **arguments: reference(**{name: value for name, value in arguments.items() if name not in names})


TASKS = (
    Task(
        "kernelbench_x/fused_gelu_conv2d",
        "Fusion",
        "fused",
        fused_gelu_conv2d,
        cases(
            {"groups": {"approximate": "tanh"}, "bf16-stride": {"approximate": "tanh"}, "transposed": {"padding": "valid"}},
            same=lambda d: drawn(d, (1, 3, 8, 7), (4, 3, 5, 3)) | {"padding": "same"},
            out=lambda d: drawn(d, (1, 3, 8, 7), (4, 3, 3, 3)) | {"out": nothing(d, 1, 4, 6, 5)},
        ),
        timed(images, SIZES),
        Contract(close(), mutates=("out",)),
        honest=rounded_once(fused_gelu_conv2d),
        magnitude=terms,
        wrong={"always erf": ignoring(fused_gelu_conv2d, "approximate")},
    ),
    Task(
        "kernelbench_x/fused_leaky_relu_conv2d",
        "Fusion",
        "fused",
        fused_leaky_relu_conv2d,
        cases({"fp16-padded": {"inplace": True}, "groups": {"negative_slope": 0.2}, "outliers": {"negative_slope": 0.0}}),
        timed(images, SIZES),
        Contract(close(), notes=(INPLACE_NOTE,)),
        honest=rounded_once(fused_leaky_relu_conv2d),
        magnitude=terms,
        wrong={"no slope": lambda negative_slope=0.0, **rest: fused_leaky_relu_conv2d(**rest, negative_slope=0.0)},
    ),
    Task(
        "kernelbench_x/fused_relu_conv2d",
        "Fusion",
        "fused",
        fused_relu_conv2d,
        cases({"fp16-padded": {"inplace": True}}),
        timed(images, SIZES),
        Contract(close(), notes=(INPLACE_NOTE,)),
        honest=rounded_once(fused_relu_conv2d),
        magnitude=terms,
        wrong={"no bias": ignoring(fused_relu_conv2d, "bias"), "no relu": lambda inplace=False, **rest: functional.conv2d(**rest)},
    ),
    Task(
        "kernelbench_x/fused_conv2d_add",
        "Fusion",
        "fused",
        fused_conv2d_add,
        cases(
            {"fp32": {"other": 0.75, "alpha": 2}},
            channels=lambda d: drawn(d, (2, 3, 8, 7), (4, 3, 3, 3), dtype=FP16) | {"other": d.normal(4, 1, 1, dtype=FP16), "alpha": 3},
            out=lambda d: drawn(d, (1, 3, 8, 7), (4, 3, 3, 3))
            | {"other": d.normal(1, 4, 6, 5), "alpha": -0.5, "out": nothing(d, 1, 4, 6, 5)},
        ),
        timed(lambda d, n, c, s, k: images(d, n, c, s, k) | {"other": d.normal(n, k, s, s, dtype=FP16)}, SIZES),
        Contract(close(), mutates=("out",)),
        honest=rounded_once(fused_conv2d_add),
        magnitude=sum_terms,
        wrong={"alpha is 1": ignoring(fused_conv2d_add, "alpha")},
    ),
    Task(
        "kernelbench_x/fused_pixel_shuffle_conv2d",
        "Fusion",
        "fused",
        fused_pixel_shuffle_conv2d,
        cases(
            {"bf16-stride": {"upscale_factor": 1}, "small-pointwise": {"upscale_factor": 1}},
            thrice=lambda d: drawn(d, (1, 3, 6, 7), (18, 3, 3, 3)) | {"upscale_factor": 3},
        ),
        timed(images, SIZES),
        Contract(close()),
        honest=rounded_once(fused_pixel_shuffle_conv2d),
        magnitude=lambda upscale_factor=2, **rest: functional.pixel_shuffle(terms(**rest), upscale_factor),
        wrong={"rows and columns swapped": columns_first},
    ),
    Task(
        "kernelbench_x/fused_relu_max_pool2d_conv2d",
        "Fusion",
        "fused",
        fused_relu_max_pool2d_conv2d,
        pooled_cases(),
        timed(lambda d, *size: prefixed(images(d, *size)), SIZES),
        Contract(close(), notes=(INPLACE_NOTE,)),
        honest=rounded_once(fused_relu_max_pool2d_conv2d),
        magnitude=pooled_terms,
        wrong={"no last window": floor_mode},
    ),
)  # fmt: skip
