"""Blocks of a row are added to the row's total by atomics; halves are summed in fp32 and converted by a second kernel.

Temptation: atomics (the order of additions, and so the last bit, differs from run to run)
Task: quick/sum
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def add_block(x, totals, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + at, mask=at < columns, other=0).to(totals.dtype.element_ty)
    tl.atomic_add(totals + row, tl.sum(v, axis=0))


@triton.jit
def convert(totals, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(totals + at, mask=at < n).to(out.dtype.element_ty), mask=at < n)


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
    wide = torch.float32 if result.is_floating_point else torch.int64
    totals = torch.zeros(shape, dtype=wide, device=x.device)
    if rows and columns:
        add_block[(rows, triton.cdiv(columns, 1024))](x, totals, columns, BLOCK=1024)
    if result == wide:
        return totals
    out = torch.empty(shape, dtype=result, device=x.device)
    if rows:
        convert[(triton.cdiv(rows, 256),)](totals, out, rows, BLOCK=256)
    return out
