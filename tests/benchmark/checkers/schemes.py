"""The quantised operators of KernelBench-X in fp32, with the liberties that a kernel may take, and with mistakes."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class Style:
    """How scales are found, values divided by them, and quotients rounded."""

    scale: Callable[[Tensor, int], Tensor]
    divide: Callable[[Tensor, Tensor], Tensor]
    rounded: Callable[[Tensor], Tensor]

    def __call__(self, tensor: Tensor, axes: int | tuple[int, ...], top: int = 127) -> tuple[Tensor, Tensor]:
        """Scales and levels."""
        most = tensor.float().abs().amax(axes, keepdim=True)
        scale = torch.where(most > 0, self.scale(most, top), 1.0)
        return scale, self.rounded(self.divide(tensor.float(), scale)).clamp(-top, top)


FAITHFUL = {
    "as written": Style(lambda most, top: most / top, lambda x, s: x / s, torch.round),
    "half away from zero": Style(lambda most, top: most * (1 / top), lambda x, s: x / s, lambda q: torch.floor(q.abs() + 0.5) * q.sign()),
    "by the reciprocal": Style(lambda most, top: most / top, lambda x, s: x * (1 / s), lambda q: torch.floor(q + 0.5)),
}
UNFAITHFUL = {
    "truncated": Style(lambda most, top: most / top, lambda x, s: x / s, torch.trunc),
    "floored": Style(lambda most, top: most / top, lambda x, s: x / s, torch.floor),
    "one level more": Style(lambda most, top: most / (top + 1), lambda x, s: x / s, torch.round),
    "half the levels": Style(lambda most, top: most / (top // 2), lambda x, s: x / s, torch.round),
    "not rounded": Style(lambda most, top: most / top, lambda x, s: x / s, lambda q: q),
}


def product(style: Style) -> Callable[..., Tensor]:
    def call(input: Tensor, weight: Tensor | None = None, mat2: Tensor | None = None) -> Tensor:
        right = weight if mat2 is None else mat2
        (scale, a), (scale_r, b) = style(input, -1), style(right, -2)
        return ((a.double() @ b.double()).float() * scale * scale_r).to(input.dtype)

    return call


def conv2d(style: Style) -> Callable[..., Tensor]:
    def call(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int = 1, padding: int = 0) -> Tensor:
        (scale, x), (scale_w, w) = style(input, (1, 2, 3)), style(weight, (1, 2, 3))
        result = functional.conv2d(x.double(), w.double(), None, stride, padding).float() * scale * scale_w.reshape(-1, 1, 1)
        return (result if bias is None else result + bias.reshape(-1, 1, 1)).to(input.dtype)

    return call


def linear(style: Style, rounded_weight: bool = False) -> Callable[..., Tensor]:
    def call(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        scale, w = style(weight, 1, 7)
        weight = (w * scale).to(input.dtype).float() if rounded_weight else w * scale
        result = input.float() @ weight.T
        return (result if bias is None else result + bias).to(input.dtype)

    return call


def layer_norm(style: Style) -> Callable[..., Tensor]:
    def call(
        input: Tensor, normalized_shape: int | list[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
    ) -> Tensor:
        rows = input.float().flatten(-1 if isinstance(normalized_shape, int) else -len(normalized_shape))
        y = rows - rows.mean(-1, keepdim=True)
        y = y * torch.rsqrt((y * y).mean(-1, keepdim=True) + eps)
        y = y if weight is None else y * weight.float().flatten()
        y = y if bias is None else y + bias.float().flatten()
        scale, levels = style(y, -1)
        return (levels * scale).to(input.dtype).reshape(input.shape)

    return call


def attention(style: Style) -> Callable[..., Tensor]:
    def call(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        (scale_q, q), (scale_k, k), (scale_v, v) = style(query, -1), style(key, -1), style(value, -2)
        scores = (q @ k.mT) * (scale_q * query.shape[-1] ** -0.5) * scale_k.mT
        powers = torch.exp2((scores - scores.amax(-1, keepdim=True)) * 1.4426950408889634)
        scale_p, p = style(powers, -1)
        return ((p.double() @ v.double()).float() * scale_v * scale_p / powers.sum(-1, keepdim=True)).to(query.dtype)

    return call


OPERATORS: dict[str, Callable[[Style], Callable[..., Tensor]]] = {
    "matmul_w8a8": product, "bmm_w8a8": product, "conv2d_w8a8": conv2d, "linear_w4a16": linear, "layernorm_w8a8": layer_norm,
    "attention_w8a8": attention,
}  # fmt: skip
