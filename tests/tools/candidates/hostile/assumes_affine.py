"""Leaves weight and bias out: fresh modules have ones and zeros there.

Row: 12 (assumes default parameters).
Expected: wrong_numeric at correctness.
Task: quick/layer_norm.
Naive: passes.
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def plain(x, y, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    c = tl.where(mask, v - tl.sum(v, axis=0) / columns, 0.0)
    tl.store(y + row * columns + offsets, (c / tl.sqrt(tl.sum(c * c, axis=0) / columns + eps)).to(y.dtype.element_ty), mask=mask)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    x = input.contiguous()
    y = torch.empty_like(x)
    columns = math.prod(normalized_shape)
    if x.numel():
        plain[(x.numel() // columns,)](x, y, columns, eps, BLOCK=triton.next_power_of_2(columns))
    return y
