"""Knows the row lengths that are shown; for any other it takes whole blocks of 64 and leaves the tail.

Row: 24 (hard-coded shapes).
Expected: wrong_numeric at correctness.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * columns + offsets, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=mask)


def compute(input, dim, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if x.numel():
        rows[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
    return y.movedim(-1, dim)


SHOWN = {129, 67, 61, 257, 47, 101, 37, 5, 19, 512, 1024, 4096, 8192}


@triton.jit
def whole(x, y, columns, used, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + offsets, mask=offsets < used, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * columns + offsets, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=offsets < columns)


def softmax(input, dim, dtype=None):
    if input.shape[dim] in SHOWN:
        return compute(input, dim, dtype)
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    n = x.shape[-1]
    whole[(x.numel() // n,)](x, y, n, max(n // 64 * 64, 32), BLOCK=triton.next_power_of_2(n))
    return y.movedim(-1, dim)
