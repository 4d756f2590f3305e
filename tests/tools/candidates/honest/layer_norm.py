"""Mean and variance of a row held in registers.

Temptation: a dummy pointer for an argument that is missing
Task: quick/layer_norm
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def layer_norm_rows(x, weight, bias, out, columns, eps, HAS_WEIGHT: tl.constexpr, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / columns
    centred = tl.where(mask, v - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    y = centred / tl.sqrt(variance + eps)
    if HAS_WEIGHT:
        y = y * tl.load(weight + offsets, mask=mask, other=0.0).to(tl.float32)
    if HAS_BIAS:
        y = y + tl.load(bias + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * columns + offsets, y.to(out.dtype.element_ty), mask=mask)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    x = input.contiguous()
    out = torch.empty_like(x)
    columns = math.prod(normalized_shape)
    rows = x.numel() // columns
    if rows:
        w = weight.contiguous() if weight is not None else x
        b = bias.contiguous() if bias is not None else x
        block = triton.next_power_of_2(columns)
        layer_norm_rows[(rows,)](x, w, b, out, columns, eps, HAS_WEIGHT=weight is not None, HAS_BIAS=bias is not None, BLOCK=block)
    return out
