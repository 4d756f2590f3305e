"""Thirty-two elements and one warp per program: right, and slower than it need be.

Temptation: slow but right (a speedup below one is no failure)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def silu_few(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    for _ in range(3):
        # Read again and again, as a beginner's loop would.
        v = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    tl.store(out + offsets, (v / (1.0 + tl.exp(-v))).to(out.dtype.element_ty), mask=offsets < n)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        silu_few[(triton.cdiv(n, 32),)](x, out, n, BLOCK=32, num_warps=1)
    return out
