"""Sum over any axes: they are moved last, and one program adds up a row in lanes, in fp32 (int64 for integers)."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def sum_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    if x.dtype.element_ty.is_floating():
        total = tl.zeros((BLOCK,), dtype=tl.float32)
    else:
        total = tl.zeros((BLOCK,), dtype=tl.int64)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + offsets, mask=offsets < columns, other=0).to(total.dtype)
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
        sum_rows[(rows,)](flat, out, columns, BLOCK=1024)
    return out
