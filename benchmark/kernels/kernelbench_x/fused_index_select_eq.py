"""Slices are compared where they lie: with the axis in the middle, an output place is (outer, chosen, inner), and only the middle one
is looked up."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def select_eq(x, index, other, out, n, length, chosen, inner, NUMBER: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    middle = tl.load(index + offsets // inner % chosen, mask=mask, other=0).to(tl.int64)
    v = tl.load(x + (offsets // (inner * chosen) * length + middle) * inner + offsets % inner, mask=mask, other=0)
    if NUMBER:
        same = v == other
    else:
        same = v == tl.load(other + offsets, mask=mask, other=0)
    tl.store(out + offsets, same, mask=mask)


def fused_index_select_eq(input, dim, index, other, *, out=None):
    x, index = input.contiguous(), index.contiguous()
    axis = dim % x.dim()
    shape = [*x.shape[:axis], index.numel(), *x.shape[axis + 1 :]]
    result = torch.empty(shape, dtype=torch.bool, device=x.device)
    n = result.numel()
    number = not isinstance(other, torch.Tensor)
    if not number:
        other = other.expand(shape).contiguous()
    if n:
        select_eq[(triton.cdiv(n, 1024),)](
            x, index, other, result, n, x.shape[axis], index.numel(), math.prod(x.shape[axis + 1 :]), NUMBER=number, BLOCK=1024
        )
    return result if out is None else out.copy_(result)
