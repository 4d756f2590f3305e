"""The exponential and the division of the vendor's device library.

Temptation: libdevice (an extern library that no allow-list of names holds)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    value = libdevice.div_rn(v, 1.0 + libdevice.exp(-v))
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
