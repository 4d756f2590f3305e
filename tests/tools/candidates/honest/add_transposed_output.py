"""Writes in the order of the first operand's memory; for a transposed operand the result is a transposed view of the buffer.

Temptation: returns a view of its own buffer, not contiguous (strides differ from a fresh tensor's)
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
        other = input.new_full((), other)
    x, y = torch.broadcast_tensors(input, other)
    swapped = x.dim() >= 2 and x.stride(-2) == 1 and x.stride(-1) == x.shape[-2]
    if swapped:
        x, y = x.transpose(-1, -2), y.transpose(-1, -2)
    x, y = x.contiguous(), y.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    if out.numel():
        add_kernel[(triton.cdiv(out.numel(), 1024),)](x, y, out, alpha, out.numel(), BLOCK=1024)
    return out.transpose(-1, -2) if swapped else out
