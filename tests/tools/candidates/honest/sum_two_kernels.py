"""Partial sums go to a scratch buffer that nothing has initialised, a second kernel adds them up.

Temptation: scratch buffer from `torch.empty` (uninitialised memory that is read, after it was written)
Task: quick/sum
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def partial_sums(x, parts, columns, chunk, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    total = tl.zeros((BLOCK,), dtype=parts.dtype.element_ty)
    for start in range(part * chunk, tl.minimum((part + 1) * chunk, columns), BLOCK):
        at = start + tl.arange(0, BLOCK)
        mask = (at < columns) & (at < (part + 1) * chunk)
        total += tl.load(x + row * columns + at, mask=mask, other=0).to(parts.dtype.element_ty)
    tl.store(parts + row * PARTS + part, tl.sum(total, axis=0))


@triton.jit
def total_of_parts(parts, out, PARTS: tl.constexpr):
    row = tl.program_id(0)
    tl.store(out + row, tl.sum(tl.load(parts + row * PARTS + tl.arange(0, PARTS)), axis=0).to(out.dtype.element_ty))


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
    parts = torch.empty((rows, 4), dtype=torch.float32 if result.is_floating_point else torch.int64, device=x.device)
    if rows:
        partial_sums[(rows, 4)](x, parts, columns, triton.cdiv(columns, 4), PARTS=4, BLOCK=256)
        total_of_parts[(rows,)](parts, out, PARTS=4)
    return out
