"""Branches with nothing to do in them are written as `pass`, on the host and in the kernel.

Temptation: `pass` statements (a harness banned the word)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


class NotNeeded(Exception):
    pass


@triton.jit
def silu_kernel(x, out, n, ACCURATE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask)
    if ACCURATE:
        pass
    else:
        v = v.to(tl.float32)
    weight = 1.0 / (1.0 + tl.exp(-v.to(tl.float32)))
    tl.store(out + offsets, (v * weight).to(out.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    if inplace:
        pass  # A new tensor all the same, as the contract says.
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n > 0:
        silu_kernel[(triton.cdiv(n, 512),)](x, out, n, ACCURATE=x.dtype == torch.float32, BLOCK=512)
    else:
        pass
    return out
