"""Lanes lie as many elements apart as there are programs."""

import torch
import triton
import triton.language as tl


@triton.jit
def silu_strided(x, out, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0).to(tl.int64)
    offsets = tl.program_id(0) + tl.arange(0, BLOCK) * step
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        silu_strided[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out
