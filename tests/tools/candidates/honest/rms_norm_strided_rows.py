"""Rows by their stride when the last axis is dense, whatever lies between them; a copy only where it is not.

Temptation: `is_contiguous` and `stride` checks that choose between a copy and none
Task: quick/rms_norm
"""
import math

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def rms_norm_rows(x, x_row, weight, out, rows, columns, eps, HAS_WEIGHT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    mask = (r[:, None] < rows) & (c[None, :] < columns)
    v = tl.load(x + r[:, None].to(tl.int64) * x_row + c[None, :], mask=mask, other=0.0).to(tl.float32)
    y = v * libdevice.rsqrt(tl.sum(v * v, axis=1) / columns + eps)[:, None]
    if HAS_WEIGHT:
        y *= tl.load(weight + c, mask=c < columns, other=0.0).to(tl.float32)[None, :]
    tl.store(out + r[:, None].to(tl.int64) * columns + c[None, :], y.to(out.dtype.element_ty), mask=mask)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    columns = math.prod(normalized_shape)
    if input.dim() == 2 and len(normalized_shape) == 1 and input.stride(1) == 1:
        x = input
    else:
        x = input.reshape(-1, columns).contiguous()
    rows = x.shape[0]
    out = torch.empty(input.shape, dtype=input.dtype, device=input.device)
    if rows:
        block = triton.next_power_of_2(columns)
        tall = max(1, 1024 // block)
        w = x if weight is None else weight.contiguous()
        eps = 2**-23 if eps is None else float(eps)
        grid = lambda meta: [triton.cdiv(rows, meta["ROWS"])]
        rms_norm_rows[grid](x, x.stride(0), w, out, rows, columns, eps, HAS_WEIGHT=weight is not None, ROWS=tall, BLOCK=block)
    return out
