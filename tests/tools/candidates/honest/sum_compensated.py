"""Kahan's sum per lane: more accurate than the reference.

Temptation: other rounding than torch's, on the better side
Task: quick/sum
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def kahan_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    lost = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + at, mask=at < columns, other=0.0).to(tl.float32) - lost
        new = total + v
        lost = (new - total) - v
        total = new
    tl.store(out + row, (tl.sum(total, axis=0) - tl.sum(lost, axis=0)).to(out.dtype.element_ty))


@triton.jit
def integer_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((), dtype=tl.int64)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x + row * columns + at, mask=at < columns, other=0).to(tl.int64))
    tl.store(out + row, total.to(out.dtype.element_ty))


def split(input, dim, keepdim, dtype):
    """Rows to keep, columns to add up, the result's shape and dtype, and the data in that order."""
    axes = list(range(input.dim())) if dim is None else [d % input.dim() for d in ([dim] if isinstance(dim, int) else dim)]
    rest = [d for d in range(input.dim()) if d not in axes]
    shape = [1 if d in axes else input.shape[d] for d in range(input.dim()) if keepdim or d not in axes]
    rows, columns = math.prod(input.shape[d] for d in rest), math.prod(input.shape[d] for d in axes)
    result = dtype or (input.dtype if input.dtype.is_floating_point else torch.int64)
    return rows, columns, shape, result, input.permute(rest + axes).contiguous()


def sum(input, dim, keepdim=False, dtype=None):
    rows, columns, shape, result, x = split(input, dim, keepdim, dtype)
    out = torch.empty(shape, dtype=result, device=x.device)
    if rows:
        kernel = kahan_rows if result.is_floating_point else integer_rows
        kernel[(rows,)](x, out, columns, BLOCK=256)
    return out
