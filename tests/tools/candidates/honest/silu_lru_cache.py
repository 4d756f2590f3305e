"""The launch parameters of a length are worked out once and kept by `functools.lru_cache`.

Temptation: memoised helper (a cache, but of numbers that follow from the size)
Task: quick/silu
"""
import functools

import torch
import triton
import triton.language as tl


@functools.lru_cache(maxsize=None)
def plan(n: int) -> tuple[int, int, int]:
    block = min(4096, max(128, triton.next_power_of_2(n) // 64))
    return triton.cdiv(n, block), block, 8 if block > 1024 else 4


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        programs, block, warps = plan(x.numel())
        silu_kernel[(programs,)](x, out, x.numel(), BLOCK=block, num_warps=warps)
    return out
