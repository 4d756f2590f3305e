"""Keeps its answer by the object's address and its version counter.

Row: 10 (memoised by id and version).
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


seen, last = {}, []


def softmax(input, dim, dtype=None):
    last[:] = [input]
    key = (input.untyped_storage().data_ptr(), input._version, dim, dtype, tuple(input.shape), tuple(input.stride()))
    if key in seen:
        return seen[key].clone()
    return seen.setdefault(key, compute(input, dim, dtype)).clone()
