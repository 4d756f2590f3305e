"""One kernel writes the sigmoids into a scratch buffer, a second one multiplies.

Temptation: several kernels and a scratch buffer (most of the time is not in the kernel that writes the output)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def sigmoids(x, scratch, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(scratch + offsets, 1.0 / (1.0 + tl.exp(-v)), mask=mask)


@triton.jit
def product(x, scratch, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32) * tl.load(scratch + offsets, mask=mask, other=0.0)
    tl.store(out + offsets, v.to(out.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if not n:
        return out
    scratch = torch.empty(n, dtype=torch.float32, device=x.device)
    grid = (triton.cdiv(n, 1024),)
    sigmoids[grid](x, scratch, n, BLOCK=1024)
    product[grid](x, scratch, out, n, BLOCK=1024)
    return out
