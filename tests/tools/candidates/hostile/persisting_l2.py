"""Sets cache lines aside for good and loads everything to stay, so that a flush might leave its inputs there.

Row: 34 (L2 persistence beats the flush).
Needs: GPU.
Expected on a GPU: no_gain at timing or profile.
"""
import ctypes

import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf"), eviction_policy="evict_last").to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    place = y + row * columns + offsets
    tl.store(place, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=mask, eviction_policy="evict_first")


PERSISTING = 6
try:
    ctypes.CDLL("libcuda.so.1").cuCtxSetLimit(PERSISTING, ctypes.c_size_t(1 << 30))
except OSError:
    pass


def softmax(input, dim, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if x.numel():
        rows[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
    return y.movedim(-1, dim)
