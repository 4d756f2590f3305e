"""Flat pointwise kernel; the host broadcasts and makes operands dense.

Temptation: `contiguous()` of non-contiguous inputs and `full_like` for a number (data movement by torch, no arithmetic)
Task: quick/add
"""
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, alpha, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask)
    b = tl.load(y + offsets, mask=mask)
    if a.dtype.is_floating():
        value = a.to(tl.float32) + alpha * b.to(tl.float32)
    else:
        value = a + alpha * b
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def add(input, other, alpha=1):
    if not isinstance(other, torch.Tensor):
        other = torch.full_like(input, other)
    x, y = torch.broadcast_tensors(input, other)
    x, y = x.contiguous(), y.contiguous()
    out = torch.empty_like(x)
    n = out.numel()
    if n:
        add_kernel[(triton.cdiv(n, 1024),)](x, y, out, alpha, n, BLOCK=1024)
    return out
