"""Launches its kernel once at import, on eight zeros, so that the first call finds the launcher ready.

Temptation: warm-up at import (work before the first call; no result of it is kept)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out


if torch.cuda.is_available():
    for dtype in (torch.float32, torch.bfloat16):
        silu(torch.zeros(8, dtype=dtype, device="cuda"))
    torch.cuda.synchronize()
