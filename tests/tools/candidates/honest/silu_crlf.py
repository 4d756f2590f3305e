"""Lines end in carriage return and line feed, as an editor on another system writes them.

Temptation: CRLF line ends
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    """A docstring
    of two lines."""
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + \
        tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=offsets < n)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        silu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out
