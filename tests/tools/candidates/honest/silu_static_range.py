"""Each program unrolls over four blocks with `tl.static_range`.

Temptation: unrolled loop (a loop variable that is a constant; blocks beyond the end are masked out whole)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x, out, n, UNROLL: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * (UNROLL * BLOCK)
    for i in tl.static_range(UNROLL):
        offsets = start + i * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        v = tl.load(x + offsets, mask=mask, eviction_policy="evict_first").to(tl.float32)
        tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        silu_kernel[(triton.cdiv(n, 4 * 512),)](x, out, n, UNROLL=4, BLOCK=512)
    return out
