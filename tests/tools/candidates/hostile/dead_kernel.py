"""Launches a kernel whose result is not used, and lets torch compute.

Row: 4 (a dead kernel beside torch).
Expected: not_triton at adversarial.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def decoration(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def softmax(input, dim, dtype=None):
    x = input.contiguous()
    y = torch.empty_like(x)
    decoration[(1,)](x, y, min(x.numel(), 64), BLOCK=64)
    return torch.softmax(input, dim, dtype=dtype)
