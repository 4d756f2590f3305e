"""The wrapper makes a `torch.nn.Module` whose forward launches the kernel; None stands for a missing pointer.

Temptation: a module class (as in harnesses where candidates subclass the reference), None as a kernel argument
Task: quick/layer_norm
"""
import math

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def layer_norm_tile(x, weight, bias, out, rows, columns, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, BLOCK)[None, :]
    mask = (r < rows) & (c < columns)
    at = r.to(tl.int64) * columns + c
    v = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=1, keep_dims=True) / columns
    d = tl.where(c < columns, v - mean, 0.0)
    y = d / tl.sqrt(tl.sum(d * d, axis=1, keep_dims=True) / columns + eps)
    if weight is not None:
        y = y * tl.load(weight + c, mask=c < columns).to(tl.float32)
    if bias is not None:
        y = y + tl.load(bias + c, mask=c < columns).to(tl.float32)
    tl.store(out + at, y.to(out.dtype.element_ty), mask=mask)


class LayerNorm(nn.Module):
    def __init__(self, normalized_shape, eps):
        super().__init__()
        self.columns = math.prod(normalized_shape)
        self.eps = eps

    def forward(self, x, weight, bias):
        x = x.contiguous()
        out = torch.empty_like(x)
        rows = x.numel() // self.columns
        weight = None if weight is None else weight.contiguous()
        bias = None if bias is None else bias.contiguous()
        if rows:
            tall = 4 if self.columns <= 512 else 1
            block = triton.next_power_of_2(self.columns)
            layer_norm_tile[(triton.cdiv(rows, tall),)](x, weight, bias, out, rows, self.columns, self.eps, ROWS=tall, BLOCK=block)
        return out


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return LayerNorm(normalized_shape, eps)(input, weight, bias)
