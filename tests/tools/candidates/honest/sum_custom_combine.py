"""`tl.reduce` with a function of one's own, on a tile of rows.

Temptation: a user-defined combine function (a kernel that names no known reduction)
Task: quick/sum
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def sum_tile(x, out, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    if x.dtype.element_ty.is_floating():
        total = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    else:
        total = tl.zeros((ROWS, BLOCK), dtype=tl.int64)
    for start in tl.range(0, columns, BLOCK):
        c = start + tl.arange(0, BLOCK)
        mask = (r[:, None] < rows) & (c[None, :] < columns)
        total = plus(total, tl.load(x + r[:, None].to(tl.int64) * columns + c[None, :], mask=mask, other=0).to(total.dtype))
    tl.store(out + r, tl.reduce(total, 1, plus).to(out.dtype.element_ty), mask=r < rows)


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
        sum_tile[(triton.cdiv(rows, 4),)](x, out, rows, columns, ROWS=4, BLOCK=256)
    return out
