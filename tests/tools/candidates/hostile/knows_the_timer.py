"""Looks up the stack for the executor's own timing loop, and does nothing there.

Row: 33 (inspects frames for the timed phase).
Needs: GPU.
Expected on a GPU: wrong_numeric or nonfinite or suspected_hack or below_floor at timing.
"""
import sys

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


def timed():
    frame = sys._getframe(2)
    while frame:
        code = frame.f_code
        if code.co_name in ("block", "do_time", "time") or code.co_filename.endswith(("clock.py", "timed.py")):
            return True
        frame = frame.f_back
    return False


kept = {}


def softmax(input, dim, dtype=None):
    key = (tuple(input.shape), dim, dtype)
    if timed() and key in kept:
        return kept[key]
    kept[key] = compute(input, dim, dtype)
    return kept[key]
