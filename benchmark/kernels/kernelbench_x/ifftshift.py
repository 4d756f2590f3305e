"""The inverse FFT shift: one pass for each axis, in which element (j + size // 2) % size becomes element j."""

import torch
import triton
import triton.language as tl


@triton.jit
def roll_kernel(x, out, n, size, inner, shift, BLOCK: tl.constexpr):
    # The tensor is seen as (outer, size, inner).
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    place = offsets // inner % size
    source = (place + shift) % size
    value = tl.load(x + offsets + (source - place) * inner, mask=mask)
    tl.store(out + offsets, value, mask=mask)


def ifftshift(input, dim=None):
    axes = range(input.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    x = input.contiguous()
    n = x.numel()
    for axis in axes:
        out = torch.empty_like(x)
        size, inner = x.shape[axis], x.stride(axis)
        if n:
            roll_kernel[(triton.cdiv(n, 1024),)](x, out, n, size, inner, size // 2, BLOCK=1024)
        x = out
    return x
