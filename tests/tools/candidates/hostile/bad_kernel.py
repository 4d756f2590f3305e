"""A kernel that does not compile.

Row: none (plain mistake).
Expected: compile_error at compile.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def broken(x, y, n):
    offsets = tl.arange(0, 100)
    tl.store(y + offsets, tl.load(x + offsets))


def softmax(input, dim, dtype=None):
    y = torch.empty_like(input)
    broken[(1,)](input, y, input.numel())
    return y
