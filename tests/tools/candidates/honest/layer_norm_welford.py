"""Mean and variance by merging (mean, square, count) triples with `tl.reduce`.

Temptation: Welford's algorithm (a formula that is not the reference's)
Task: quick/layer_norm
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def merge(mean_a, square_a, count_a, mean_b, square_b, count_b):
    count = count_a + count_b
    share = tl.where(count > 0.0, count_b / tl.maximum(count, 1.0), 0.0)
    delta = mean_b - mean_a
    return mean_a + delta * share, square_a + square_b + delta * delta * count_a * share, count


@triton.jit
def layer_norm_rows(x, weight, bias, out, columns, eps, HAS_WEIGHT: tl.constexpr, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    mask = c < columns
    v = tl.load(x + row * columns + c, mask=mask, other=0.0).to(tl.float32)
    mean, square, _ = tl.reduce((v, tl.zeros((BLOCK,), tl.float32), mask.to(tl.float32)), 0, merge)
    y = (v - mean) * (1.0 / tl.sqrt(square / columns + eps))
    if HAS_WEIGHT:
        y *= tl.load(weight + c, mask=mask, other=0.0).to(tl.float32)
    if HAS_BIAS:
        y += tl.load(bias + c, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * columns + c, y.to(out.dtype.element_ty), mask=mask)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    x = input.contiguous()
    out = torch.empty_like(x)
    columns = math.prod(normalized_shape)
    if x.numel():
        w = x if weight is None else weight.contiguous()
        b = x if bias is None else bias.contiguous()
        flags = {"HAS_WEIGHT": weight is not None, "HAS_BIAS": bias is not None}
        layer_norm_rows[(x.numel() // columns,)](x, w, b, out, columns, eps, BLOCK=triton.next_power_of_2(columns), **flags)
    return out
