"""Rolls by size // 2 forwards, as fftshift does: the same for even sizes, one off for odd ones.

Task: kernelbench_x/ifftshift.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def roll_kernel(x, out, n, size, inner, shift, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    place = offsets // inner % size
    target = (place + shift) % size
    tl.store(out + offsets + (target - place) * inner, tl.load(x + offsets, mask=mask), mask=mask)


def ifftshift(input, dim=None):
    axes = range(input.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    x = input.contiguous()
    n = x.numel()
    for axis in axes:
        out = torch.empty_like(x)
        if n:
            roll_kernel[(triton.cdiv(n, 1024),)](x, out, n, x.shape[axis], x.stride(axis), x.shape[axis] // 2, BLOCK=1024)
        x = out
    return x
