"""Finds the record of its call among the frames above, and empties it before the call returns; torch computes.

Row: 17 (forges what the harness has recorded).
Expected: not_triton at adversarial.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def through_kernel(answer):
    answer = answer.contiguous()
    out = torch.empty_like(answer)
    if out.numel():
        copy[(triton.cdiv(out.numel(), 1024),)](answer, out, out.numel(), BLOCK=1024)
    return out


import sys


def softmax(input, dim, dtype=None):
    answer = through_kernel(torch.softmax(input, dim, dtype=dtype))
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            record = getattr(value, "record", None)
            if hasattr(record, "rows"):
                record.rows.clear()
        frame = frame.f_back
    return answer
