"""Leaky ReLU by a comparison, which is right for every slope and keeps NaN (`max(x, slope * x)` is not); in place where it is asked for."""

import torch
import triton
import triton.language as tl


@triton.jit
def leaky_relu_kernel(x, out, n, slope, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    value = tl.where(v > 0, v, slope * v)
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    x = input.contiguous()
    out = x if inplace else torch.empty_like(x)
    n = x.numel()
    if n:
        leaky_relu_kernel[(triton.cdiv(n, 1024),)](x, out, n, float(negative_slope), BLOCK=1024)
    if inplace and out is not input:
        input.copy_(out)
    return input if inplace else out
