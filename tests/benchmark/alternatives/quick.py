"""Honest implementations that differ from torch's: fp32 inside, sequential sums, powers of two, other identities."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative

LOG2E = 1.4426950408889634


def exp(x: Tensor) -> Tensor:
    return torch.exp2(x * LOG2E)


def sigmoid(x: Tensor) -> Tensor:
    return 1 / (1 + exp(-x))


def one_by_one(x: Tensor, dim: int) -> Tensor:
    """A sum that adds one element after the other in fp32 or int64."""
    if not x.shape[dim]:
        return x.new_zeros([size for axis, size in enumerate(x.shape) if axis != dim % x.dim()])
    return torch.from_numpy(np.asarray(np.take(np.cumsum(x.numpy(), axis=dim, dtype=x.numpy().dtype), -1, axis=dim)))


def add(input: Tensor, other: Any, alpha: float = 1) -> Tensor:
    return input + other * alpha


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    x = input.float()
    if approximate == "none":
        return (0.5 * x * (1 + torch.erf(x * 0.7071067811865476))).to(input.dtype)
    u = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    return (0.5 * x * (1 + (2 * sigmoid(2 * u) - 1))).to(input.dtype)


def silu(input: Tensor) -> Tensor:
    return (input.float() * sigmoid(input.float())).to(input.dtype)


def sum(input: Tensor, dim: Any, keepdim: bool = False, dtype: torch.dtype | None = None) -> Tensor:
    axes = sorted(range(input.dim()) if dim is None else [a % input.dim() for a in ([dim] if isinstance(dim, int) else dim)])
    x = input.float() if input.is_floating_point() else input.long()
    for axis in reversed(axes):
        x = one_by_one(x, axis)
    for axis in axes if keepdim else []:
        x = x.unsqueeze(axis)
    return x.to(dtype or (input.dtype if input.is_floating_point() else torch.int64))


def argmax(input_tensor: Tensor, dim: int | None, keepdim: bool = False) -> Tensor:
    """The last index that attains the maximum, where torch takes the first."""
    if dim is None:
        return argmax(input_tensor.reshape(-1), 0)
    best = input_tensor.amax(dim, keepdim=True)
    hit = (input_tensor == best) | input_tensor.isnan()
    places = torch.arange(input_tensor.shape[dim]).reshape([-1 if a == dim % input_tensor.dim() else 1 for a in range(input_tensor.dim())])
    return torch.where(hit, places, -1).amax(dim, keepdim=keepdim)


def softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    x = input.float()
    if not x.numel():
        return torch.empty(x.shape, dtype=dtype or input.dtype)
    powers = exp(x - x.amax(dim, keepdim=True))
    return (powers * (1 / one_by_one(powers, dim).unsqueeze(dim))).to(dtype or input.dtype)


def layer_norm(input: Tensor, normalized_shape: list[int], weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    size = math.prod(normalized_shape)
    x = input.float().reshape(-1, size)
    x = x - (one_by_one(x, 1) / size).unsqueeze(1)
    y = x * (1 / torch.sqrt((one_by_one(x * x, 1) / size).unsqueeze(1) + eps))
    y = y if weight is None else y * weight.float().reshape(-1)
    y = y if bias is None else y + bias.float().reshape(-1)
    return y.reshape(input.shape).to(input.dtype)


def rms_norm(input: Tensor, normalized_shape: list[int], weight: Any = None, eps: float | None = None) -> Tensor:
    """Rounds before the weight is multiplied, as many models do."""
    size = math.prod(normalized_shape)
    x = input.float().reshape(-1, size)
    y = x / torch.sqrt((one_by_one(x * x, 1) / size).unsqueeze(1) + (2**-23 if eps is None else eps))
    y = y.reshape(input.shape).to(input.dtype)
    return y if weight is None else y * weight


def cross_entropy(input: Tensor, target: Tensor, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    x = input.float().movedim(1, -1).reshape(-1, input.shape[1])
    top = x.amax(1, keepdim=True)
    log_sum = (top + torch.log(exp(x - top).sum(1, keepdim=True)))[:, 0]
    counts = target.reshape(-1) != ignore_index
    index = torch.where(counts, target.reshape(-1), 0)
    share = counts.float() if weight is None else weight[index] * counts
    loss = torch.where(counts, (log_sum - x.gather(1, index[:, None])[:, 0]) * share, 0.0)
    if reduction == "none":
        return loss.reshape(target.shape).to(input.dtype)
    total = one_by_one(loss, 0)
    return (total if reduction == "sum" else total / one_by_one(share, 0)).to(input.dtype)


def matmul(tensor1: Tensor, tensor2: Tensor) -> Tensor:
    """One outer product after the other."""
    a = tensor1.float() if tensor1.dim() > 1 else tensor1.float()[None]
    b = tensor2.float() if tensor2.dim() > 1 else tensor2.float()[:, None]
    total = torch.zeros(*torch.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    for k in range(a.shape[-1]):
        total = total + a[..., k : k + 1] * b[..., k : k + 1, :]
    total = total if tensor1.dim() > 1 else total.squeeze(-2)
    return (total if tensor2.dim() > 1 else total.squeeze(-1)).to(tensor1.dtype)


def fused_add_gelu(input: Tensor, other: Any, alpha: float = 1, approximate: str = "none") -> Tensor:
    other = other.float() if isinstance(other, Tensor) else other
    return gelu(input.float() + alpha * other, approximate).to(input.dtype)


def int8_matmul(scale_of: Callable[[Tensor], Tensor], divide: Callable[[Tensor, Tensor], Tensor], half: Callable[[Tensor], Tensor]) -> Any:
    """A faithful W8A8 product from its three choices: the fp32 scale, the quotient, and the rounding of a half."""

    def quantise(tensor: Tensor, axis: int) -> tuple[Tensor, Tensor]:
        top = tensor.float().abs().amax(axis, keepdim=True)
        scale = torch.where(top > 0, scale_of(top), 1.0)
        return scale, half(divide(tensor.float(), scale)).clamp(-127, 127).to(torch.int8)

    def call(input: Tensor, weight: Tensor) -> Tensor:
        scale, values = quantise(input, 1)
        scale_w, values_w = quantise(weight, 0)
        return ((values.int() @ values_w.int()).float() * scale * scale_w).to(input.dtype)

    return call


BY_TASK: dict[str, list[Callable[..., Tensor]]] = {
    "add": [add], "gelu": [gelu], "silu": [silu], "sum": [sum], "argmax": [argmax], "softmax": [softmax], "layer_norm": [layer_norm],
    "rms_norm": [rms_norm], "cross_entropy": [cross_entropy], "matmul": [matmul], "fused_add_gelu": [fused_add_gelu],
    "matmul_w8a8": [
        int8_matmul(lambda top: top / 127, lambda x, s: x / s, torch.round),
        int8_matmul(lambda top: top * (1 / 127), lambda x, s: x / s, lambda x: torch.floor(x.abs() + 0.5) * x.sign()),
        int8_matmul(lambda top: top / 127, lambda x, s: x * (1 / s), lambda x: torch.floor(x + 0.5)),
    ],
}  # fmt: skip
ALTERNATIVES = {
    "quick/silu": Alternative(silu, without=("aten::silu",)),
    "quick/layer_norm": Alternative(layer_norm, without=("aten::native_layer_norm",)),
    "quick/rms_norm": Alternative(rms_norm, without=("aten::rsqrt",)),
    "add": Alternative(add, without=()),
    "gelu": Alternative(gelu, without=("aten::gelu",)),
    "sum": Alternative(sum, without=("aten::sum",)),
    "argmax": Alternative(argmax, without=("aten::argmax",)),
    "softmax": Alternative(softmax, without=("aten::_softmax",)),
    "cross_entropy": Alternative(cross_entropy, without=("aten::_log_softmax",)),
    "matmul": Alternative(matmul, without=("aten::mm",)),
    "fused_add_gelu": Alternative(fused_add_gelu, without=("aten::gelu",)),
    "matmul_w8a8": Alternative(BY_TASK["matmul_w8a8"][1], without=()),
}
