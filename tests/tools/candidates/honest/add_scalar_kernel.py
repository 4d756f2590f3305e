"""One kernel for two tensors, another for a tensor and a number, chosen by the type of the argument.

Temptation: dispatch on the argument's type (a branch that looks like a fallback)
Task: quick/add
"""
import torch
import triton
import triton.language as tl


@triton.jit
def add_tensors(x, y, out, alpha, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a, b = tl.load(x + offsets, mask=mask), tl.load(y + offsets, mask=mask)
    if x.dtype.element_ty.is_int():
        tl.store(out + offsets, a + alpha * b, mask=mask)
    else:
        tl.store(out + offsets, (a.to(tl.float32) + alpha * b.to(tl.float32)).to(out.dtype.element_ty), mask=mask)


@triton.jit
def add_number(x, out, amount, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask)
    tl.store(out + offsets, (a + amount).to(out.dtype.element_ty), mask=mask)


def add(input, other, alpha=1):
    if isinstance(other, (int, float)):
        x = input.contiguous()
        out = torch.empty_like(x)
        if out.numel():
            add_number[(triton.cdiv(out.numel(), 1024),)](x, out, other * alpha, out.numel(), BLOCK=1024)
        return out
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    out = torch.empty_like(x)
    if out.numel():
        add_tensors[(triton.cdiv(out.numel(), 1024),)](x, y, out, alpha, out.numel(), BLOCK=1024)
    return out
