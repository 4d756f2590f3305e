"""Returns fresh memory, where an earlier answer may still lie.

Row: 5 (stale memory).
Expected: nonfinite at correctness.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def decoration(x, y):
    tl.store(y, tl.load(x))


def softmax(input, dim, dtype=None):
    y = torch.empty_like(input, dtype=dtype)
    if input.numel():
        decoration[(1,)](input, torch.empty_like(input))
    return y
