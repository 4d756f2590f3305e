"""Clones the input and lets the kernel overwrite the clone.

Temptation: in-place kernel (reads and writes the same memory, which is not the caller's)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def silu_in_place(x, n, BLOCK: tl.constexpr):
    at = x + tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK) < n
    v = tl.load(at, mask=mask).to(tl.float32)
    tl.store(at, (v * tl.sigmoid(v)).to(x.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    out = torch.empty(input.shape, dtype=input.dtype, device=input.device)
    out.copy_(input)
    if out.numel():
        silu_in_place[(triton.cdiv(out.numel(), 1024),)](out, out.numel(), BLOCK=1024)
    return out
