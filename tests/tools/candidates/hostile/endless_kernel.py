"""A kernel that waits for a flag that nobody sets.

Row: 47 (infinite loop on the device).
Expected: timeout at correctness.
Task: quick/silu.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def spin(x, y, flag):
    # No compiler leaves an atomic out.
    while tl.atomic_cas(flag, 0, 0) == 0:
        pass
    tl.store(y, tl.load(x))


def silu(input, inplace=False):
    y = torch.empty_like(input)
    spin[(1,)](input, y, torch.zeros(1, dtype=torch.int32, device=input.device))
    return y
