"""One row per program.

Temptation: a default taken from a constant of the host, where the reference has one
Task: quick/rms_norm
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_rows(x, weight, out, columns, eps, HAS_WEIGHT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    y = v / tl.sqrt(tl.sum(v * v, axis=0) / columns + eps)
    if HAS_WEIGHT:
        y = y * tl.load(weight + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * columns + offsets, y.to(out.dtype.element_ty), mask=mask)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    x = input.contiguous()
    out = torch.empty_like(x)
    columns = math.prod(normalized_shape)
    rows = x.numel() // columns
    if rows:
        w = weight.contiguous() if weight is not None else x
        eps = 2**-23 if eps is None else eps
        rms_norm_rows[(rows,)](x, w, out, columns, eps, HAS_WEIGHT=weight is not None, BLOCK=triton.next_power_of_2(columns))
    return out
