"""A kernel that never ends.

Row: 47 (infinite loop on the device).
Expected: timeout at correctness.
Task: quick/silu.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def spin(x, y):
    value = tl.load(x).to(tl.float32)
    while value == value:
        value = tl.load(x).to(tl.float32) * 0.0
    tl.store(y, value.to(y.dtype.element_ty))


def silu(input, inplace=False):
    y = torch.empty_like(input)
    spin[(1,)](input, y)
    return y
