"""Reads each row three times in blocks of 128 with one warp: maximum, sum, result.

Temptation: slow but right (three passes where one would do)
Task: quick/softmax
"""
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_three_reads(x, y, columns, BLOCK: tl.constexpr):
    x += tl.program_id(0).to(tl.int64) * columns
    y += tl.program_id(0).to(tl.int64) * columns
    peak = tl.full((), -float("inf"), tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        peak = tl.maximum(peak, tl.max(tl.load(x + at, mask=at < columns, other=-float("inf")).to(tl.float32)))
    total = tl.full((), 0.0, tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.exp(tl.load(x + at, mask=at < columns, other=-float("inf")).to(tl.float32) - peak))
    start = 0
    while start < columns:
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + at, mask=at < columns).to(tl.float32)
        tl.store(y + at, (tl.exp(v - peak) / total).to(y.dtype.element_ty), mask=at < columns)
        start += BLOCK


def softmax(input, dim, dtype=None):
    x = input.movedim(dim, -1).contiguous()
    y = torch.empty(x.shape, dtype=dtype or x.dtype, device=x.device)
    if x.numel():
        softmax_three_reads[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=128, num_warps=1)
    return y.movedim(-1, dim).contiguous()
