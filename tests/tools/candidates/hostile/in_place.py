"""Right, computed in the input's own memory, and the input is what comes back.

Row: 9 (the output is the input).
Expected: input_mutated at correctness.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(x + row * columns + offsets, (e / tl.sum(e, axis=0)).to(x.dtype.element_ty), mask=mask)


def softmax(input, dim, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1)
    y = x.contiguous()
    if y.numel():
        rows[(y.numel() // y.shape[-1],)](y, y.shape[-1], BLOCK=triton.next_power_of_2(y.shape[-1]))
    return y.movedim(-1, dim)
