"""Copies the first operand into the output, then adds the second onto it in place.

Temptation: in-place output (before the launch the output holds the input's values)
Task: quick/add
"""
import torch
import triton
import triton.language as tl


@triton.jit
def add_onto(out, y, alpha, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(out + offsets, mask=mask)
    b = tl.load(y + offsets, mask=mask)
    if a.dtype.is_floating():
        a = (a.to(tl.float32) + alpha * b.to(tl.float32)).to(a.dtype)
    else:
        a += alpha * b
    tl.store(out + offsets, a, mask=mask)


def add(input, other, alpha=1):
    other = torch.as_tensor(other, dtype=input.dtype, device=input.device)
    x, y = torch.broadcast_tensors(input, other)
    out = x.clone(memory_format=torch.contiguous_format)
    if out.numel():
        add_onto[(triton.cdiv(out.numel(), 1024),)](out, y.contiguous(), alpha, out.numel(), BLOCK=1024)
    return out
