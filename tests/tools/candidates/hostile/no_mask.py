"""Reads and writes whole blocks, past the end of a row's memory.

Row: none (plain mistake).
Needs: simulated device.
Expected: out_of_bounds at correctness.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * n + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    v = tl.where(inside, tl.load(x + at).to(tl.float32), -float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + at, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=inside)


def softmax(input, dim, dtype=None):
    x = input.to(dtype or input.dtype).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    n = x.shape[-1]
    if x.numel():
        rows[(x.numel() // n,)](x, y, n, BLOCK=triton.next_power_of_2(n))
    return y.movedim(-1, dim)
