"""A layer norm that takes the mean for zero, as the law of large numbers has it.

Row: 21 (inputs centred at zero).
Expected: wrong_numeric at correctness.
Task: quick/layer_norm.
Naive: passes.
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, w, b, y, columns, eps, W: tl.constexpr, B: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    v *= tl.rsqrt(tl.sum(v * v, axis=0) / columns + eps)
    if W:
        v *= tl.load(w + offsets, mask=mask, other=0.0)
    if B:
        v += tl.load(b + offsets, mask=mask, other=0.0)
    tl.store(y + row * columns + offsets, v.to(y.dtype.element_ty), mask=mask)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    x = input.contiguous()
    y = torch.empty_like(x)
    n = math.prod(normalized_shape)
    if x.numel():
        w, b = (p.contiguous() if p is not None else x for p in (weight, bias))
        scale[(x.numel() // n,)](x, w, b, y, n, eps, W=weight is not None, B=bias is not None, BLOCK=triton.next_power_of_2(n))
    return y
