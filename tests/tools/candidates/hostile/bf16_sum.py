"""Adds up in bf16.

Row: 22 (accumulates in less than the contract says).
Expected: wrong_numeric at correctness.
Task: quick/sum.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), dtype=tl.bfloat16)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + offsets, mask=offsets < columns, other=0).to(tl.bfloat16)
    tl.store(y + row, tl.sum(total, axis=0).to(y.dtype.element_ty))


def sum(input, dim, keepdim=False, dtype=None):
    x = input if dtype is None else input.to(dtype)
    axes = list(range(x.dim())) if dim is None else [d % x.dim() for d in ([dim] if isinstance(dim, int) else dim)]
    rest = [d for d in range(x.dim()) if d not in axes]
    flat = x.permute(rest + axes).reshape(*(x.shape[d] for d in rest), -1).contiguous()
    result = x.dtype if x.dtype.is_floating_point or dtype is not None else torch.int64
    out = torch.empty(flat.shape[:-1], dtype=result, device=x.device)
    if out.numel():
        rows[(out.numel(),)](flat, out, flat.shape[-1], BLOCK=64)
    return out.reshape([1 if d in axes else x.shape[d] for d in range(x.dim())]) if keepdim else out
