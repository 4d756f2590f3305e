"""Slices of the first axis are taken, whatever the axis: what lies before it is not stepped over.

Task: kernelbench_x/index_select.
Expected: wrong_numeric at correctness.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def pick(x, index, out, n, count, inner, xo, xa, xi, step, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    at = tl.load(index + i // inner % count * step, mask=inside, other=0).to(tl.int64)
    value = tl.load(x + at * xa + i % inner * xi, mask=inside)
    tl.store(out + i, value, mask=inside)


def index_select(input, dim, index):
    axis, shape = dim % input.dim(), list(input.shape)
    inner = math.prod(shape[axis + 1 :])
    x = input.reshape(math.prod(shape[:axis]), shape[axis], inner)
    shape[axis] = index.numel()
    out = torch.empty(shape, dtype=input.dtype, device=input.device)
    if out.numel():
        grid = (triton.cdiv(out.numel(), 1024),)
        pick[grid](x, index, out, out.numel(), index.numel(), inner, *x.stride(), index.stride(0), BLOCK=1024)
    return out
