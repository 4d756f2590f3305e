"""On its first call answers for every tensor of that shape it can find; later calls look their answer up.

Row: 14 (batches the work of later calls into the first).
Expected: wrong_numeric at correctness.
Naive: passes.
"""
import gc

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


done = {}


def softmax(input, dim, dtype=None):
    key = (input.data_ptr(), input.shape, dim, dtype)
    if key not in done:
        batch = [input, *(t for t in gc.get_objects() if type(t) is type(input) and t.shape == input.shape and t.dtype == input.dtype)]
        for tensor in batch:
            done[tensor.data_ptr(), tensor.shape, dim, dtype] = compute(tensor, dim, dtype)
        return done[key]
    return done.pop(key) if len(done) > 64 else done[key].clone()
