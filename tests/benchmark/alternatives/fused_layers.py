"""Linear layers, norms, poolings and the block of Fusion from their definitions: sums of products, averages by matrices."""

from typing import Any

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative


def wide(tensor: Tensor) -> Tensor:
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """In fp32 at least, one sum of products for each element."""
    y = (wide(input).unsqueeze(-2) * wide(weight)).sum(-1)
    return y if bias is None else y + wide(bias)


def elu(input: Tensor, weight: Tensor, bias: Tensor | None = None, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    y = linear(input, weight, bias)
    return torch.where(y > 0, y, alpha * torch.expm1(y)).to(input.dtype)


def tanh(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    y = linear(input, weight, bias)
    part = torch.expm1(-2 * y.abs())
    return (-part / (part + 2) * y.sign()).to(input.dtype)


def softplus(input: Tensor, weight: Tensor, bias: Tensor | None = None, beta: float = 1, threshold: float = 20) -> Tensor:
    y = linear(input, weight, bias)
    smooth = y.clamp(min=0) + torch.log1p(torch.exp(-(beta * y).abs())) / beta
    return torch.where(beta * y > threshold, y, smooth).to(input.dtype)


def log_softmax(input: Tensor, weight: Tensor, bias: Tensor | None = None, dim: int = -1, dtype: torch.dtype | None = None) -> Tensor:
    y = linear(input, weight, bias)
    if y.numel():
        y = y - y.amax(dim, keepdim=True)
        y = y - torch.log(torch.exp(y).sum(dim, keepdim=True))
    return y.to(dtype or input.dtype)


def hardsigmoid_batch_norm(
    x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    inplace: bool = False,
) -> Tensor:
    others, by_channel = (0, *range(2, x.dim())), (-1, *[1] * (x.dim() - 2))
    mean, var, y = running_mean, running_var, x.float()
    if training:
        mean, count = y.mean(others), y.numel() // y.shape[1]
        var = (y - mean.view(by_channel)).square().mean(others)
        running_mean.copy_(running_mean + momentum * (mean - running_mean))
        running_var.copy_(running_var + momentum * (var * count / (count - 1) - running_var))
    y = (y - mean.view(by_channel)) / torch.sqrt(var + eps).view(by_channel)
    y = y if weight is None else y * weight.view(by_channel)
    y = y if bias is None else y + bias.view(by_channel)
    return ((y + 3).clamp(0, 6) / 6).to(x.dtype)


def norm(x: Tensor, p: float, axes: Any) -> Tensor:
    """The p-norm, with the largest element taken out, so that powers of large and small ones fit."""
    top = x.abs().amax(axes, keepdim=True)
    if p == float("inf"):
        return top
    scaled = x.abs() / torch.where(top > 0, top, 1.0)
    return (scaled**p).sum(axes, keepdim=True) ** (1 / p) * top


def pairwise_distance_normalize(
    x1: Tensor, x2: Tensor, p_norm: float = 2.0, eps_norm: float = 1e-12, eps_distance: float = 1e-6, keepdim: bool = False
) -> Tensor:
    left, right = (wide(x) / norm(wide(x), p_norm, -1).clamp(min=eps_norm) for x in (x1, x2))
    if not left.numel():
        return x1.new_empty((len(x1), len(x2), 1) if keepdim else (len(x1), len(x2)))
    distance = norm(left[:, None] - right, p_norm, -1).clamp(min=eps_distance).to(x1.dtype)
    return distance if keepdim else distance[..., 0]


def averages(length: int, count: int) -> Tensor:
    """(count, length): adaptive pooling along an axis as a matrix."""
    matrix = torch.zeros(count, length)
    for i in range(count):
        first, end = i * length // count, -(-(i + 1) * length // count)
        matrix[i, first:end] = 1 / (end - first)
    return matrix


def adaptive(x: Tensor, output_size: Any) -> Tensor:
    height, width = (output_size, output_size) if isinstance(output_size, int) else output_size
    return averages(x.shape[-2], height) @ x.float() @ averages(x.shape[-1], width).mT


def sigmoid_adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    return (1 / (1 + torch.exp(-adaptive(input, output_size)))).to(input.dtype)


def pairwise_distance_adaptive_avg_pool2d(
    x1: Tensor, x2: Tensor, output_size: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    distance = (norm(adaptive(x1, output_size) - adaptive(x2, output_size), p, (1, 2, 3)) + eps).to(x1.dtype)
    return distance if keepdim else distance.reshape(-1)


def avg_pool2d_cosine_similarity(
    x1: Tensor, x2: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0, eps: float = 1e-8
) -> Tensor:
    a, b, step = x1.float(), x2.float(), stride or kernel_size
    norms = a.square().sum(1).sqrt().clamp(min=eps) * b.square().sum(1).sqrt().clamp(min=eps)
    similarity = (a * b).sum(1) / norms
    x = torch.zeros(len(a), a.shape[2] + 2 * padding, a.shape[3] + 2 * padding)
    x[:, padding : padding + a.shape[2], padding : padding + a.shape[3]] = similarity
    windows = x.unfold(1, kernel_size, step).unfold(2, kernel_size, step)
    return (windows.sum((-2, -1)) / kernel_size**2).unsqueeze(1).to(x1.dtype)


def transformer_block(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    residual: Tensor,
    dropout_p: float = 0.1,
    eps: float = 1e-5,
    *,
    out: Tensor | None = None,
) -> Tensor:
    scores = linear(input, weight1.mT)
    powers = torch.exp(scores - scores.amax(-1, keepdim=True))
    attended = powers / powers.sum(-1, keepdim=True)
    dropped = torch.where(torch.rand(attended.shape) >= dropout_p, attended / (1 - dropout_p or 1), 0.0)
    z = linear(dropped, weight2.mT)
    z = z - z.mean(-1, keepdim=True)
    return (z / torch.sqrt(z.square().mean(-1, keepdim=True) + eps) + residual).to(input.dtype)


PRODUCTS = ("aten::addmm", "aten::mm")
ALTERNATIVES = {
    "fused_elu_linear": Alternative(elu, (*PRODUCTS, "aten::elu")),
    "fused_tanh_linear": Alternative(tanh, (*PRODUCTS, "aten::tanh")),
    "fused_softplus_linear": Alternative(softplus, (*PRODUCTS, "aten::softplus")),
    "fused_log_softmax_linear": Alternative(log_softmax, (*PRODUCTS, "aten::_log_softmax")),
    "fused_hardsigmoid_batch_norm": Alternative(hardsigmoid_batch_norm, ("aten::native_batch_norm", "aten::hardsigmoid")),
    "fused_pairwise_distance_normalize": Alternative(pairwise_distance_normalize, ("aten::_cdist_forward", "aten::linalg_vector_norm")),
    "fused_sigmoid_adaptive_avg_pool2d": Alternative(sigmoid_adaptive_avg_pool2d, ("aten::_adaptive_avg_pool2d", "aten::sigmoid")),
    "fused_pairwise_distance_adaptive_avg_pool2d": Alternative(
        pairwise_distance_adaptive_avg_pool2d, ("aten::_adaptive_avg_pool2d", "aten::linalg_vector_norm")
    ),
    "fused_avg_pool2d_cosine_similarity": Alternative(avg_pool2d_cosine_similarity, ("aten::avg_pool2d",)),
    "fused_transformer_block": Alternative(transformer_block, ("aten::mm", "aten::_softmax", "aten::native_layer_norm")),
}
