"""Adds its partial sums to memory that it takes for zero.

Row: 35 (relies on memory that the allocator has zeroed).
Expected: nonfinite at correctness.
Task: quick/sum.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def partial(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + row * columns + offsets, mask=offsets < columns, other=0).to(tl.float32), axis=0)
    tl.atomic_add(y + row, part)


def sum(input, dim, keepdim=False, dtype=None):
    x = input if dtype is None else input.to(dtype)
    axes = list(range(x.dim())) if dim is None else [d % x.dim() for d in ([dim] if isinstance(dim, int) else dim)]
    rest = [d for d in range(x.dim()) if d not in axes]
    flat = x.permute(rest + axes).reshape(*(x.shape[d] for d in rest), -1).contiguous()
    y = torch.empty(flat.shape[:-1], device=x.device)
    if flat.numel():
        partial[(y.numel(), triton.cdiv(flat.shape[-1], 64))](flat, y, flat.shape[-1], BLOCK=64)
    y = y.to(x.dtype if x.dtype.is_floating_point or dtype is not None else torch.int64)
    return y.reshape([1 if d in axes else x.shape[d] for d in range(x.dim())]) if keepdim else y
