"""Convolutions of Fusion by shifts: one tap after the other, all channels at once; norms and activations from their definitions."""

from typing import Any

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative


def pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)


def convolved(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    """In fp32: sums over the channels of a group, tap by tap."""
    (sy, sx), (dy, dx) = pair(stride), pair(dilation)
    (rows, columns), taps = input.shape[2:], weight.shape[2:]
    if isinstance(padding, str):
        padding = 0 if padding == "valid" else (dy * (taps[0] - 1) // 2, dx * (taps[1] - 1) // 2)
    py, px = pair(padding)
    x = torch.zeros(*input.shape[:2], rows + 2 * py, columns + 2 * px)
    x[:, :, py : py + rows, px : px + columns] = input
    height, width = (x.shape[2] - dy * (taps[0] - 1) - 1) // sy + 1, (x.shape[3] - dx * (taps[1] - 1) - 1) // sx + 1
    filters = weight.float().reshape(groups, -1, *weight.shape[1:])
    total = torch.zeros(len(x), *filters.shape[:2], height, width)
    for i in range(taps[0]):
        for j in range(taps[1]):
            seen = x[:, :, i * dy : i * dy + sy * (height - 1) + 1 : sy, j * dx : j * dx + sx * (width - 1) + 1 : sx]
            seen = seen.reshape(len(x), groups, 1, weight.shape[1], height, width)
            total = total + (seen * filters[None, :, :, :, i, j, None, None]).sum(3)
    result = total.reshape(len(x), len(weight), height, width)
    return result if bias is None else result + bias.float().reshape(-1, 1, 1)


def gelu(input: Tensor, weight: Tensor, approximate: str = "none", out: Tensor | None = None, **rest: Any) -> Tensor:
    y = convolved(input, weight, **rest)
    if approximate == "none":
        result = 0.5 * y * torch.erfc(-y * 0.7071067811865476)
    else:
        result = y * torch.sigmoid(1.5957691216057308 * (y + 0.044715 * y * y * y))
    return result.to(input.dtype) if out is None else out.copy_(result)


def leaky_relu(input: Tensor, weight: Tensor, negative_slope: float = 0.01, inplace: bool = False, **rest: Any) -> Tensor:
    y = convolved(input, weight, **rest)
    return torch.where(y > 0, y, negative_slope * y).to(input.dtype)


def add(
    input: Tensor, weight: Tensor, other: Tensor | float | None = None, alpha: float = 1, out: Tensor | None = None, **rest: Any
) -> Tensor:
    y = convolved(input, weight, **rest)
    result = (y if other is None else y + alpha * other).to(input.dtype)
    return result if out is None else out.copy_(result)


def pixel_shuffle(input: Tensor, weight: Tensor, upscale_factor: int = 2, **rest: Any) -> Tensor:
    y, r = convolved(input, weight, **rest), upscale_factor
    result = torch.empty(len(y), y.shape[1] // r**2, y.shape[2] * r, y.shape[3] * r)
    for i in range(r):
        for j in range(r):
            result[:, :, i::r, j::r] = y[:, i * r + j :: r * r]
    return result.to(input.dtype)


def relu_max_pool2d(input: Tensor, weight: Tensor, bias: Tensor | None = None, inplace: bool = False, **options: Any) -> Tensor:
    names = {name: value for name, value in options.items() if name.startswith("conv_")}
    y = convolved(input, weight, bias, **{name.removeprefix("conv_"): value for name, value in names.items()})
    (kh, kw), (dy, dx) = pair(options.get("pool_kernel_size", 2)), pair(options.get("pool_dilation", 1))
    (sy, sx), (py, px) = pair(options.get("pool_stride") or (kh, kw)), pair(options.get("pool_padding", 0))
    ceil = options.get("pool_ceil_mode", False)
    height, width = (
        results(length, size, step, padding, gap, ceil)
        for length, size, step, padding, gap in zip(y.shape[2:], (kh, kw), (sy, sx), (py, px), (dy, dx), strict=True)
    )
    # What lies outside the image is less than anything.
    x = torch.full((*y.shape[:2], py + sy * height + dy * kh + y.shape[2], px + sx * width + dx * kw + y.shape[3]), float("-inf"))
    x[:, :, py : py + y.shape[2], px : px + y.shape[3]] = y
    result = torch.zeros(*y.shape[:2], height, width)
    for i in range(kh):
        for j in range(kw):
            result = torch.maximum(result, x[:, :, i * dy :: sy, j * dx :: sx][:, :, :height, :width])
    return result.to(input.dtype)


def results(length: int, size: int, step: int, padding: int, gap: int, ceil: bool) -> int:
    beyond = length + 2 * padding - gap * (size - 1) - 1
    count = (beyond + (step - 1 if ceil else 0)) // step + 1
    return count - 1 if ceil and (count - 1) * step >= length + padding else count


def relu_batch_norm(
    input: Tensor,
    weight: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    bn_weight: Tensor | None = None,
    bn_bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    inplace: bool = False,
    **rest: Any,
) -> Tensor:
    y = convolved(input, weight, **rest)
    if training:
        mean, count = y.mean((0, 2, 3)), y.numel() // y.shape[1]
        var = (y - mean.view(-1, 1, 1)).square().mean((0, 2, 3))
        if running_mean is not None and running_var is not None:
            running_mean.copy_(running_mean + momentum * (mean - running_mean))
            running_var.copy_(running_var + momentum * (var * count / (count - 1) - running_var))
    else:
        assert running_mean is not None
        assert running_var is not None
        mean, var = running_mean, running_var
    y = (y - mean.view(-1, 1, 1)) / torch.sqrt(var + eps).view(-1, 1, 1)
    y = y if bn_weight is None else y * bn_weight.view(-1, 1, 1)
    y = y if bn_bias is None else y + bn_bias.view(-1, 1, 1)
    return y.clamp(min=0).to(input.dtype)


def normed(y: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    y = y - y.mean(axes, keepdim=True)
    return y / torch.sqrt(y.square().mean(axes, keepdim=True) + eps)


def instance_norm_selu(input: Tensor, weight: Tensor, eps: float = 1e-5, **rest: Any) -> Tensor:
    unused = ("num_features", "momentum", "affine", "track_running_stats")
    y = convolved(input, weight, **{name: value for name, value in rest.items() if name not in unused})
    y = 1.0507009873554805 * torch.where(y > 0, y, 1.6732632423543772 * torch.expm1(y))
    return normed(y, (2, 3), eps).to(input.dtype)


def silu_layer_norm(x: Tensor, weight: Tensor, conv_weight: Tensor, ln_eps: float = 1e-5, **rest: Any) -> Tensor:
    y = convolved(x, conv_weight, **{name.removeprefix("conv_"): value for name, value in rest.items()})
    z = normed(y, (1, 2, 3), ln_eps) * weight.float().view(-1, 1, 1)
    return (z / (1 + torch.exp(-z))).to(x.dtype)


def dropout_relu_batch_norm(
    input: Tensor, weight: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, **rest: Any
) -> Tensor:
    y = convolved(input, weight, **rest)
    if not training:
        return (y / (1 + 1e-5) ** 0.5).clamp(min=0).to(input.dtype)
    y = normed(y, (0, 2, 3), 1e-5).clamp(min=0)
    return torch.where(torch.rand(y.shape) >= p, y / (1 - p) if p < 1 else y, 0.0).to(input.dtype)


ALTERNATIVES = {
    "fused_gelu_conv2d": Alternative(gelu, ("aten::convolution", "aten::gelu")),
    "fused_leaky_relu_conv2d": Alternative(leaky_relu, ("aten::convolution", "aten::leaky_relu")),
    "fused_conv2d_add": Alternative(add, ("aten::convolution",)),
    "fused_pixel_shuffle_conv2d": Alternative(pixel_shuffle, ("aten::convolution", "aten::pixel_shuffle")),
    "fused_relu_max_pool2d_conv2d": Alternative(relu_max_pool2d, ("aten::convolution", "aten::max_pool2d_with_indices")),
    "fused_relu_batch_norm_conv2d": Alternative(relu_batch_norm, ("aten::convolution", "aten::native_batch_norm")),
    "fused_instance_norm_selu_conv2d": Alternative(instance_norm_selu, ("aten::convolution", "aten::native_batch_norm")),
    "fused_silu_layer_norm_conv2d": Alternative(silu_layer_norm, ("aten::convolution", "aten::native_layer_norm", "aten::silu")),
    "fused_dropout_relu_batch_norm_conv2d": Alternative(dropout_relu_batch_norm, ("aten::convolution", "aten::native_batch_norm")),
}
