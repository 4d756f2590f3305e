"""Fused pointwise steps, reductions, look-ups and losses of Fusion, by identities and index arithmetic."""

import math
from typing import Any

import torch
from torch import Tensor

from benchmark.suites.kernelbench_x._out import into
from tests.benchmark.alternatives import Alternative
from tests.benchmark.alternatives.fused_layers import wide
from tests.benchmark.alternatives.quick import exp, gelu, one_by_one


def sub_gelu(input: Tensor, other: Any, alpha: float = 1, approximate: str = "none", out: Tensor | None = None) -> Tensor:
    other = wide(other) if isinstance(other, Tensor) else other
    return into(gelu(wide(input) - alpha * other, approximate).to(input.dtype), out)


def log_tanh(input: Tensor, out: Tensor | None = None) -> Tensor:
    """`(x**2 - 1) / (x**2 + 1)`, in factors."""
    x = wide(input)
    near = (x - 1) * (x + 1) / (x * x + 1)
    return into(torch.where(x < 1e5, near, 1.0).to(input.dtype), out)


def relu_sqrt(input: Tensor, inplace: bool = False, out: Tensor | None = None) -> Tensor:
    x = input if input.is_floating_point() else input.float()
    return into(x.clamp(min=0) ** 0.5, input if inplace else out)


def tile_exp(input: Tensor, dims: tuple[int, ...], *, out: Tensor | None = None) -> Tensor:
    """Each place looks up the element at its index modulo the size."""
    count = max(input.dim(), len(dims))
    x = exp(wide(input)).to(input.dtype).reshape([1] * (count - input.dim()) + list(input.shape))
    times = [1] * (count - len(dims)) + list(dims)
    for axis, repeats in enumerate(times):
        places = torch.arange(x.shape[axis] * repeats) % max(1, x.shape[axis])
        x = x.index_select(axis, places)
    return into(x, out)


def cos_signbit(input: Tensor) -> tuple[Tensor, Tensor]:
    half = torch.sin(wide(input) / 2)
    cosine = 1 - 2 * half * half
    return cosine.to(input.dtype), cosine < 0


def lines(x: Tensor, dim: Any) -> tuple[Tensor, list[int]]:
    """`x` with the reduced axes as the last one, and which these are."""
    axes = sorted(a % x.dim() for a in (range(x.dim()) if dim is None else [dim] if isinstance(dim, int) else dim))
    rest = [a for a in range(x.dim()) if a not in axes]
    return x.permute(rest + axes).reshape([x.shape[a] for a in rest] + [-1]), axes


def add_mean(
    input: Tensor, other: Any, dim: Any = None, alpha: float = 1, keepdim: bool = False, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    rows, axes = lines(wide(input) + alpha * (wide(other) if isinstance(other, Tensor) else other), dim)
    mean = one_by_one(rows, -1) / rows.shape[-1]
    for axis in axes if keepdim else []:
        mean = mean.unsqueeze(axis)
    return into(mean.to(dtype or input.dtype), out)


def gelu_min(input: Tensor, approximate: str = "none", dim: int | None = None, keepdim: bool = False, out: None = None) -> Any:
    """The last index at which the smallest value stands."""
    values = gelu(wide(input), approximate)
    if dim is None:
        return values.amin().to(input.dtype)
    least = values.amin(dim, keepdim=True)
    shape = [-1 if a == dim % input.dim() else 1 for a in range(input.dim())]
    found = torch.where((values == least) | values.isnan(), torch.arange(input.shape[dim]).reshape(shape), -1).amax(dim, keepdim=True)
    pair = least.to(input.dtype), found
    return pair if keepdim else tuple(item.squeeze(dim) for item in pair)


def sum_std(
    input: Tensor, dim: Any = None, keepdim: bool = False, dtype: Any = None, correction: int = 1, out: Tensor | None = None
) -> Tensor:
    """Sums as products with ones."""
    rows, _ = lines(input.to(dtype or input.dtype), dim)
    sums = (rows @ rows.new_ones(rows.shape[-1])).reshape(-1)
    count = sums.numel()
    away = sums - sums @ sums.new_ones(count) / count
    result = (away @ away / (count - correction)).sqrt() if count > correction else sums.new_zeros(())
    return into(result, out)


def gather_masked_fill(
    input: Tensor, dim: int, index: Tensor, mask: Tensor, value: float, *, sparse_grad: bool = False, out: Tensor | None = None
) -> Tensor:
    axis = dim % input.dim()
    places = [torch.arange(size).reshape([-1 if b == a else 1 for b in range(input.dim())]) for a, size in enumerate(index.shape)]
    places[axis] = index
    return into(torch.where(mask, value, input[tuple(places)]).to(input.dtype), out)


def index_select_eq(input: Tensor, dim: int, index: Tensor, other: Any, *, out: Tensor | None = None) -> Tensor:
    selected = input.movedim(dim, 0)[index.long()].movedim(0, dim)
    return into(~(selected != other), out)


def masked_select_add_gelu(
    input: Tensor, mask: Tensor, other: Any, *, alpha: float = 1, approximate: str = "none", out: Tensor | None = None
) -> Tensor:
    """Where to each element goes is a running count."""
    x, mask = (t.reshape(-1) for t in torch.broadcast_tensors(wide(input), mask))
    places = mask.cumsum(0)
    count = int(places[-1])
    selected = x.new_empty(count + 1).scatter(0, torch.where(mask, places - 1, count), x)[:count]
    other = wide(other) if isinstance(other, Tensor) else other
    return into(gelu(selected + alpha * other, approximate).to(input.dtype), out)


def log_softmax(x: Tensor, dim: int) -> Tensor:
    top = x.amax(dim, keepdim=True)
    return x - top - torch.log(exp(x - top).sum(dim, keepdim=True))


def repeat_interleave_log_softmax(
    input: Tensor, repeats: Any, dim: int | None = None, *, output_size: Any = None, dtype: Any = None, out: Tensor | None = None
) -> Tensor:
    """Nothing is repeated before the sum: each slice counts as often as it stands there."""
    x = wide(input if dtype is None else input.to(dtype))
    x, axis = (x.reshape(-1), 0) if dim is None else (x, dim)
    counts = repeats if isinstance(repeats, Tensor) else torch.full((x.shape[axis],), repeats)
    shape = [-1 if a == axis % x.dim() else 1 for a in range(x.dim())]
    there = (counts > 0).reshape(shape)
    top = torch.where(there, x, -math.inf).amax(axis, keepdim=True)
    total = torch.where(there, exp(x - top) * counts.reshape(shape), 0.0).sum(axis, keepdim=True)
    ends = counts.cumsum(0)
    places = torch.searchsorted(ends, torch.arange(int(ends[-1])), right=True)
    return into((x - top - torch.log(total)).movedim(axis, 0)[places].movedim(0, axis).to(dtype or input.dtype), out)


def cross_entropy_softmax_layernorm(
    logits: Tensor, targets: Tensor, normalized_shape: int, weight: Tensor | None = None, ignore_index: int = -100,
    reduction: str = "mean", label_smoothing: float = 0.0, eps: float = 1e-5, *, out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    logs = log_softmax(wide(logits), 1)
    counts = targets != ignore_index
    weights = logs.new_ones(logs.shape[1]) if weight is None else wide(weight)
    index = torch.where(counts, targets, 0)
    share = weights[index] * counts
    each = -(1 - label_smoothing) * share * logs[torch.arange(len(index)), index] - label_smoothing * counts * (logs * weights).mean(1)
    loss = each if reduction == "none" else one_by_one(each, 0)
    shares = exp(logs)
    away = shares - 1 / normalized_shape
    normed = away / ((away * away).mean(1, keepdim=True) + eps).sqrt()
    loss = loss / one_by_one(share, 0) if reduction == "mean" else loss
    return loss.to(logits.dtype), into(normed.to(logits.dtype), out)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, reduction: str = "mean") -> Tensor:
    """The product of the rows, divided by that of their norms."""
    a, b = wide(input1), wide(input2)
    norms = (a * a).sum(1).sqrt().clamp(min=1e-12), (b * b).sum(1).sqrt().clamp(min=1e-12)
    cosine = one_by_one(a / norms[0][:, None] * b, 1) / norms[1]
    loss = torch.where(target == 1, 1 - cosine, torch.relu(cosine - margin))
    total = loss if reduction == "none" else one_by_one(loss, 0)
    return (total / len(loss) if reduction == "mean" else total).to(input1.dtype)


ALTERNATIVES = {
    "fused_sub_gelu": Alternative(sub_gelu, without=("aten::gelu",)),
    "fused_log_tanh": Alternative(log_tanh, without=("aten::log", "aten::tanh")),
    "fused_relu_sqrt": Alternative(relu_sqrt, without=("aten::relu", "aten::sqrt")),
    "fused_tile_exp": Alternative(tile_exp, without=("aten::exp", "aten::repeat")),
    "fused_cos_signbit": Alternative(cos_signbit, without=("aten::cos", "aten::signbit")),
    "fused_add_mean": Alternative(add_mean, without=("aten::mean",)),
    "fused_gelu_min": Alternative(gelu_min, without=("aten::gelu", "aten::min")),
    "fused_sum_std": Alternative(sum_std, without=("aten::sum", "aten::std")),
    "fused_gather_masked_fill": Alternative(gather_masked_fill, without=("aten::gather", "aten::masked_fill")),
    "fused_index_select_eq": Alternative(index_select_eq, without=("aten::index_select", "aten::eq")),
    "fused_masked_select_add_gelu": Alternative(masked_select_add_gelu, without=("aten::masked_select", "aten::gelu")),
    "fused_repeat_interleave_log_softmax": Alternative(repeat_interleave_log_softmax, without=("aten::_log_softmax",)),
    "fused_cross_entropy_softmax_layernorm": Alternative(
        cross_entropy_softmax_layernorm, without=("aten::_log_softmax", "aten::_softmax", "aten::native_layer_norm")
    ),
    "fused_cosine_embedding_loss_with_normalization": Alternative(cosine_embedding_loss, without=("aten::linalg_vector_norm",)),
}
