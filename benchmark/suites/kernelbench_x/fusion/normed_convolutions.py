"""Fusion of KernelBench-X: convolutions that are normalised."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close, dropout
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.suites.kernelbench_x.fusion._norm_terms import through_norm
from benchmark.suites.kernelbench_x.fusion.convolutions import (
    INPLACE_NOTE,
    SIZES,
    Pair,
    cases,
    drawn,
    ignoring,
    images,
    terms,
    with_input,
)
from benchmark.task import Arguments, Case, Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def fused_relu_batch_norm_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    bn_weight: Tensor | None = None,
    bn_bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    inplace: bool = False,
) -> Tensor:
    """A 2-d convolution `y` (rules of torch.nn.functional.conv2d: `input` (N, C, H, W), `weight` (K, C / groups, R, S), `bias` (K,)
    or None), batch-normalised by channel, then `max(0, x)`: `(y - mean) / sqrt(var + eps) * bn_weight + bn_bias`, where None stands
    for 1 and 0. Not in training, mean and variance are `running_mean` and `running_var` (K,), which are only read. In training
    they are those of `y` over N and both image axes, with the biased variance; running statistics that are given then become
    `(1 - momentum) * running + momentum * batch's`, with the unbiased variance. `inplace` changes nothing that the caller sees."""
    result = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    result = functional.batch_norm(result, running_mean, running_var, bn_weight, bn_bias, training, momentum, eps)
    return functional.relu(result, inplace)


def batch_terms(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    bn_weight: Tensor | None = None,
    bn_bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    **_: Any,
) -> tuple[Tensor, ...]:
    """For the result, and in training for the running statistics that are given."""
    y = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    of_y = terms(input, weight, bias, stride, padding, dilation, groups)
    running: tuple[Tensor, ...] = ()
    if training:
        normed = through_norm(y, of_y, (0, 2, 3), eps)
        of_var = (2 * (y - y.mean((0, 2, 3), keepdim=True)).abs() * (of_y + of_y.mean((0, 2, 3), keepdim=True))).mean((0, 2, 3))
        if running_mean is not None and running_var is not None:
            running = (running_mean.abs() + of_y.mean((0, 2, 3)), running_var + of_var)
    else:
        assert running_mean is not None
        assert running_var is not None
        normed = (of_y + running_mean.abs().view(-1, 1, 1)) * (running_var.view(-1, 1, 1) + eps).rsqrt()
    normed = normed if bn_weight is None else normed * bn_weight.abs().view(-1, 1, 1)
    return (normed if bn_bias is None else normed + bn_bias.abs().view(-1, 1, 1), *running)


def statistics(d: Draw, channels: int, affine: bool = True, **options: Any) -> Arguments:
    running = {"running_mean": d.normal(channels), "running_var": d.uniform(channels, low=0.3, high=3)}
    scale = {"bn_weight": d.normal(channels, shift=1), "bn_bias": d.normal(channels)} if affine else {}
    return running | scale | options


def batch_cases() -> tuple[Case, ...]:
    """The common images with statistics, in training in about half of the cases."""
    options: dict[str, Arguments] = {
        "fp16-padded": {"training": True, "momentum": 0.3, "inplace": True},
        "groups": {"training": True, "eps": 0.1},
        "rectangular": {"eps": 1e-3},
        "small-pointwise": {"training": True, "momentum": 1.0},
        "offset-groups": {"training": True, "momentum": 0.0},
        "outliers": {"training": True, "eps": 1e-3},
    }
    plain = ("large", "depthwise-dilated")

    def with_statistics(case: Case) -> Case:
        def make(d: Draw) -> Arguments:
            arguments = case.make(d)
            return arguments | statistics(d, arguments["weight"].shape[0], case.name not in plain, **options.get(case.name, {}))

        return Case(case.name, make, case.held_out)

    return tuple(map(with_statistics, cases()))


def no_running_statistics(d: Draw) -> Arguments:
    return drawn(d, (2, 3, 8, 7), (4, 3, 3, 3)) | {"training": True, "bn_weight": d.normal(4, shift=1)}


def unbiased(input: Tensor, weight: Tensor, bn_weight: Any = None, bn_bias: Any = None, eps: float = 1e-5, **rest: Any) -> Tensor:
    """Normalised by the unbiased variance in training."""
    result = fused_relu_batch_norm_conv2d(input, weight, eps=eps, **rest)
    if not rest.get("training"):
        return result
    y = functional.conv2d(input, weight, *(rest.get(name, usual) for name, usual in CONVOLUTION))
    y = (y - y.mean((0, 2, 3), keepdim=True)) / (y.var((0, 2, 3), keepdim=True) + eps).sqrt()
    y = y if bn_weight is None else y * bn_weight.view(-1, 1, 1)
    return functional.relu(y if bn_bias is None else y + bn_bias.view(-1, 1, 1)).to(result.dtype)


CONVOLUTION: tuple[tuple[str, Any], ...] = (("bias", None), ("stride", 1), ("padding", 0), ("dilation", 1), ("groups", 1))


def fused_instance_norm_selu_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    num_features: int | None = None,
    eps: float = 1e-5,
    momentum: float = 0.1,
    affine: bool = False,
    track_running_stats: bool = False,
) -> Tensor:
    """A 2-d convolution (rules of torch.nn.functional.conv2d: `input` (N, C, H, W), `weight` (K, C / groups, R, S), `bias` (K,) or
    None), then SELU (`1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * (exp(x) - 1))`), then each image's channel is
    normalised over its rows and columns: `(s - mean) / sqrt(var + eps)` with the biased variance. There are no learned scales and
    no buffers, so that `num_features` (K or None), `momentum`, `affine` (scales as they begin: 1 and 0) and `track_running_stats`
    change nothing."""
    result = functional.selu(functional.conv2d(input, weight, bias, stride, padding, dilation, groups))
    return functional.instance_norm(result, momentum=momentum, eps=eps)


def instance_terms(input: Tensor, weight: Tensor, eps: float = 1e-5, **rest: Any) -> Tensor:
    """SELU stretches by 1.7581 at most."""
    y = functional.conv2d(input, weight, *(rest.get(name, usual) for name, usual in CONVOLUTION))
    return through_norm(functional.selu(y), 1.7581 * terms(input, weight, **rest), (2, 3), eps)


def norm_first(input: Tensor, weight: Tensor, eps: float = 1e-5, **rest: Any) -> Tensor:
    y = functional.conv2d(input, weight, *(rest.get(name, usual) for name, usual in CONVOLUTION))
    return functional.selu(functional.instance_norm(y, eps=eps))


def fused_silu_layer_norm_conv2d(
    x: Tensor,
    weight: Tensor,
    conv_weight: Tensor,
    conv_bias: Tensor | None = None,
    conv_stride: Pair = 1,
    conv_padding: Pair = 0,
    conv_dilation: Pair = 1,
    conv_groups: int = 1,
    ln_eps: float = 1e-5,
) -> Tensor:
    """A 2-d convolution (rules of torch.nn.functional.conv2d: `x` (N, C, H, W), `conv_weight` (K, C / groups, R, S), `conv_bias`
    (K,) or None), of which each sample is normalised over channels, rows and columns together, `(y - mean) / sqrt(var + ln_eps)`
    with the biased variance, scaled by channel with `weight` (K,), then `z * sigmoid(z)`."""
    y = functional.conv2d(x, conv_weight, conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    return functional.silu(functional.layer_norm(y, y.shape[1:], eps=ln_eps) * weight.view(-1, 1, 1))


def layer_terms(
    x: Tensor,
    weight: Tensor,
    conv_weight: Tensor,
    conv_bias: Tensor | None = None,
    conv_stride: Any = 1,
    conv_padding: Any = 0,
    conv_dilation: Any = 1,
    conv_groups: int = 1,
    ln_eps: float = 1e-5,
) -> Tensor:
    options = (conv_bias, conv_stride, conv_padding, conv_dilation, conv_groups)
    y, of_y = functional.conv2d(x, conv_weight, *options), terms(x, conv_weight, *options)
    return through_norm(y, of_y, (1, 2, 3), ln_eps) * weight.abs().view(-1, 1, 1)


def by_channel(x: Tensor, weight: Tensor, conv_weight: Tensor, ln_eps: float = 1e-5, **rest: Any) -> Tensor:
    """Normalised over the channels of each pixel."""
    y = functional.conv2d(x, conv_weight, *(rest.get(f"conv_{name}", usual) for name, usual in CONVOLUTION)).movedim(1, -1)
    return functional.silu(functional.layer_norm(y, y.shape[-1:], eps=ln_eps) * weight).movedim(-1, 1)


def layered(arguments: Arguments, d: Draw) -> Arguments:
    """Under this operator's names, with scales by channel."""
    renamed = {"input": "x", "weight": "conv_weight"}
    named = {renamed.get(name, f"conv_{name}"): value for name, value in arguments.items()}
    return named | {"weight": d.normal(arguments["weight"].shape[0], dtype=arguments["weight"].dtype, shift=1)}


def layered_cases() -> tuple[Case, ...]:
    eps = {"groups": {"ln_eps": 0.1}, "offset-groups": {"ln_eps": 1e-3}}

    def layered_case(case: Case) -> Case:
        return Case(case.name, lambda d: layered(case.make(d), d) | eps.get(case.name, {}), case.held_out)

    return tuple(map(layered_case, cases()))


def fused_dropout_relu_batch_norm_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
) -> Tensor:
    """A 2-d convolution (rules of torch.nn.functional.conv2d: `input` (N, C, H, W), `weight` (K, C / groups, R, S), `bias` (K,) or
    None), batch norm without learned scales, `max(0, x)`, dropout. In training the norm is `(y - mean) / sqrt(var + 1e-5)` with
    the mean and the biased variance of each channel over N, rows and columns (a bias cancels), and dropout makes each element 0
    with probability `p`, independently and anew in each call, and divides the others by `1 - p`. Not in training, statistics
    are those that a batch norm begins with, mean 0 and variance 1, so that `y` is divided by `sqrt(1 + 1e-5)`, and nothing is
    dropped. `inplace` changes nothing that the caller sees."""
    result = functional.conv2d(input, weight, bias, stride, padding, dilation, groups)
    result = functional.relu(functional.batch_norm(result, *first_statistics(result, training), training=training), inplace)
    return functional.dropout(result, p, training, inplace)


def first_statistics(images: Tensor, training: bool) -> tuple[Tensor | None, Tensor | None]:
    return (None, None) if training else (images.new_zeros(images.shape[1]), images.new_ones(images.shape[1]))


def kept_and_dropped(p: float = 0.5, training: bool = True, inplace: bool = False, **rest: Any) -> tuple[Tensor, Tensor]:
    value = fused_dropout_relu_batch_norm_conv2d(**rest, p=0.0, training=training)
    return (value / (1 - p) if training and p < 1 else value), torch.zeros_like(value)


def dropout_terms(p: float = 0.5, training: bool = True, inplace: bool = False, **rest: Any) -> Tensor:
    if not training:
        return terms(**rest)
    y = functional.conv2d(rest["input"], rest["weight"], *(rest.get(name, usual) for name, usual in CONVOLUTION))
    return through_norm(y, terms(**rest), (0, 2, 3), 1e-5) / (1 - p if p < 1 else 1)


def everything_kept(p: float = 0.5, **rest: Any) -> Tensor:
    return fused_dropout_relu_batch_norm_conv2d(**rest, p=0.0)


def whole_channels(p: float = 0.5, training: bool = True, **rest: Any) -> Tensor:
    """Dropout of whole channels of an image."""
    return functional.dropout2d(fused_dropout_relu_batch_norm_conv2d(**rest, p=0.0, training=training), p, training)


def normed_by_image(p: float = 0.5, training: bool = True, inplace: bool = False, **rest: Any) -> Tensor:
    """Normalised over rows and columns, not over the batch."""
    y = functional.conv2d(rest["input"], rest["weight"], *(rest.get(name, usual) for name, usual in CONVOLUTION))
    return functional.dropout(functional.relu(functional.instance_norm(y)), p, training)


DROPOUTS = shown({
    "fp32": lambda d: drawn(d, (2, 3, 9, 11), (8, 3, 3, 3)),
    "fp16-padded": lambda d: drawn(d, (2, 5, 7, 9), (12, 5, 3, 3), dtype=FP16) | {"padding": 1, "p": 0.3, "inplace": True},
    "bf16-stride": lambda d: drawn(d, (3, 4, 19, 17), (8, 4, 3, 3), dtype=BF16, bias=False) | {"stride": 2, "p": 0.4},
    "groups": lambda d: drawn(d, (2, 8, 9, 9), (16, 2, 3, 3)) | {"groups": 4, "padding": (1, 0), "p": 0.7},
    "depthwise-dilated": lambda d: drawn(d, (2, 8, 11, 10), (8, 1, 3, 3)) | {"groups": 8, "dilation": 2, "padding": 2},
    "transposed": lambda d: with_input(drawn(d, (2, 6, 10, 9), (12, 6, 3, 2)), transposed(d.normal(2, 6, 10, 9))) | {"p": 0.25},
    "large": lambda d: drawn(d, (2, 3, 11, 9), (8, 3, 3, 3), scale=1e4) | {"p": 0.6},
    "not-in-training": lambda d: drawn(d, (2, 3, 8, 9), (4, 3, 3, 3)) | {"training": False},
    "kept": lambda d: drawn(d, (2, 3, 8, 9), (4, 3, 3, 3), scale=3e-3) | {"p": 0.0, "inplace": True},
    "all-dropped": lambda d: drawn(d, (2, 3, 5, 4), (4, 3, 3, 3)) | {"p": 1.0},
}) + hidden({
    "offset-groups": lambda d: with_input(drawn(d, (2, 6, 11, 9), (16, 3, 3, 3)), offset(d.normal(2, 6, 11, 9)))
    | {"groups": 2, "stride": (1, 2), "padding": (2, 1)},
    "strided-bf16": lambda d: with_input(drawn(d, (2, 5, 9, 8), (4, 5, 3, 3), dtype=BF16), strided(d.normal(2, 5, 9, 8, dtype=BF16)))
    | {"training": False},
    "outliers": lambda d: with_input(drawn(d, (2, 4, 10, 11), (16, 4, 3, 3)), d.outliers(2, 4, 10, 11, factor=10)) | {"padding": 1},
})  # fmt: skip


TASKS = (
    Task(
        "kernelbench_x/fused_relu_batch_norm_conv2d",
        "Fusion",
        "fused",
        fused_relu_batch_norm_conv2d,
        (*batch_cases(), Case("no-statistics", no_running_statistics)),
        timed(lambda d, n, c, s, k: images(d, n, c, s, k) | statistics(d, k), SIZES),
        Contract(close(), mutates=("running_mean if training", "running_var if training"), notes=(INPLACE_NOTE,)),
        honest=rounded_once(fused_relu_batch_norm_conv2d),
        magnitude=batch_terms,
        wrong={"unbiased variance": unbiased, "no eps": lambda eps=0.0, **rest: fused_relu_batch_norm_conv2d(**rest, eps=1e-30)},
    ),
    Task(
        "kernelbench_x/fused_instance_norm_selu_conv2d",
        "Fusion",
        "fused",
        fused_instance_norm_selu_conv2d,
        cases({
            "fp16-padded": {"num_features": 12, "momentum": 0.5}, "groups": {"eps": 0.1}, "offset-groups": {"eps": 1e-3},
            "small-pointwise": {"affine": True, "num_features": 8}, "depthwise-dilated": {"track_running_stats": True},
        }),
        timed(images, SIZES),
        Contract(close()),
        honest=rounded_once(fused_instance_norm_selu_conv2d),
        magnitude=instance_terms,
        wrong={"normalised before selu": norm_first, "eps of 1e-5": ignoring(fused_instance_norm_selu_conv2d, "eps")},
    ),
    Task(
        "kernelbench_x/fused_silu_layer_norm_conv2d",
        "Fusion",
        "fused",
        fused_silu_layer_norm_conv2d,
        layered_cases(),
        timed(lambda d, *size: layered(images(d, *size), d), SIZES),
        Contract(close(), notes=("`weight` scales the normalised channels; there is no shift.",)),
        honest=rounded_once(fused_silu_layer_norm_conv2d),
        magnitude=layer_terms,
        wrong={"normalised by pixel": by_channel},
    ),
    Task(
        "kernelbench_x/fused_dropout_relu_batch_norm_conv2d",
        "Fusion",
        "fused",
        fused_dropout_relu_batch_norm_conv2d,
        DROPOUTS,
        timed(images, SIZES),
        Contract(dropout(), random=True, notes=(INPLACE_NOTE,)),
        honest=rounded_once(fused_dropout_relu_batch_norm_conv2d),
        truth=kept_and_dropped,
        magnitude=dropout_terms,
        wrong={"everything kept": everything_kept, "whole channels": whole_channels, "normed by image": normed_by_image},
    ),
)  # fmt: skip
