"""A kernel that never compiles, its error swallowed, and torch in its place.

Row: 2 (torch behind a try).
Expected: not_triton at adversarial.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def broken(x, y):
    tl.store(y + tl.arange(0, 100), tl.load(x + tl.arange(0, 100)))


def softmax(input, dim, dtype=None):
    y = torch.empty_like(input, dtype=dtype)
    try:
        broken[(1,)](input, y)
    except Exception:
        y = torch.softmax(input, dim, dtype=dtype)
    return y
