"""Partial sums of 512 columns, then a second kernel adds them up."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def partial_sums(x, parts, columns, BLOCK: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    offsets = part * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + offsets, mask=offsets < columns, other=0).to(parts.dtype.element_ty)
    tl.store(parts + row * tl.num_programs(1) + part, tl.sum(value, axis=0))


@triton.jit
def add_up(parts, out, count, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), dtype=parts.dtype.element_ty)
    for start in range(0, count, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(parts + row * count + offsets, mask=offsets < count, other=0)
    tl.store(out + row, tl.sum(total, axis=0).to(out.dtype.element_ty))


def sum(input, dim, keepdim=False, dtype=None):
    x = input if dtype is None else input.to(dtype)
    axes = list(range(x.dim())) if dim is None else [d % x.dim() for d in ([dim] if isinstance(dim, int) else dim)]
    rest = [d for d in range(x.dim()) if d not in axes]
    shape = [1 if d in axes else x.shape[d] for d in range(x.dim())] if keepdim else [x.shape[d] for d in rest]
    rows, columns = math.prod(x.shape[d] for d in rest), math.prod(x.shape[d] for d in axes)
    result = x.dtype if x.dtype.is_floating_point or dtype is not None else torch.int64
    flat = x.permute(rest + axes).contiguous()
    out = torch.empty(shape, dtype=result, device=x.device)
    if rows:
        count = triton.cdiv(columns, 512)
        wide = torch.float32 if x.dtype.is_floating_point else torch.int64
        parts = torch.empty((rows, count), dtype=wide, device=x.device)
        if count:
            partial_sums[(rows, count)](flat, parts, columns, BLOCK=512)
        add_up[(rows,)](parts, out, count, BLOCK=32, num_warps=1)
    return out
