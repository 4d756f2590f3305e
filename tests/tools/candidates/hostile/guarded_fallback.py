"""A kernel for one shape, torch for all others.

Row: 2 (torch behind a shape guard).
Expected: not_triton at adversarial.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * columns + offsets, e / tl.sum(e, axis=0), mask=mask)


def softmax(input, dim, dtype=None):
    if input.dim() == 2 and input.shape[-1] == 129 and dim == -1:
        y = torch.empty_like(input)
        rows[(input.shape[0],)](input, y, 129, BLOCK=256)
        return y
    return torch.softmax(input, dim, dtype=dtype)
