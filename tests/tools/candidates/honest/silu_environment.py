"""The block size may be set by an environment variable, and has a default.

Temptation: reads the environment (secrets and seeds are looked for there)
Task: quick/silu
"""
import os

import torch
import triton
import triton.language as tl

BLOCK = int(os.environ.get("SILU_BLOCK", "1024"))
DEBUG = os.getenv("SILU_DEBUG") is not None


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if DEBUG:
        print("silu of", tuple(input.shape))
    if n:
        silu_kernel[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK)
    return out
