"""Transposed convolution as one scattered product for each tap."""

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative

Pair = int | tuple[int, int]


def pair(value: Pair) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else value


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
    (sy, sx), (py, px), (oy, ox), (dy, dx) = map(pair, (stride, padding, output_padding, dilation))
    n, channels, height, width = input.shape
    _, each, tall, broad = weight.shape
    full = (height - 1) * sy + dy * (tall - 1) + 1 + oy, (width - 1) * sx + dx * (broad - 1) + 1 + ox
    total = input.new_zeros((n, groups, each, *full), dtype=torch.float32)
    split = input.float().reshape(n, groups, channels // groups, height, width)
    kernels = weight.float().reshape(groups, channels // groups, each, tall, broad)
    for i in range(tall):
        for j in range(broad):
            rows = slice(i * dy, i * dy + (height - 1) * sy + 1, sy)
            columns = slice(j * dx, j * dx + (width - 1) * sx + 1, sx)
            total[..., rows, columns] += torch.einsum("ngchw,gco->ngohw", split, kernels[..., i, j])
    result = total.reshape(n, groups * each, *full)[..., py : full[0] - py, px : full[1] - px]
    return (result if bias is None else result + bias.float().reshape(-1, 1, 1)).to(input.dtype)


ALTERNATIVES = {"conv_transpose2d": Alternative(conv_transpose2d, ("aten::convolution",))}
