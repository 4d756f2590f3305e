"""Records the launches of its first call of a shape, with their pointers, and only replays them later.

Row: 13 (a replay that has captured old pointers).
Expected: wrong_numeric or not_triton at adversarial.
Task: quick/rms_norm.
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def norm(x, w, y, columns, eps, WEIGHTED: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    v = v / tl.sqrt(tl.sum(v * v, axis=0) / columns + eps)
    if WEIGHTED:
        v = v * tl.load(w + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(y + row * columns + offsets, v.to(y.dtype.element_ty), mask=mask)


graphs = {}


def rms_norm(input, normalized_shape, weight=None, eps=None):
    key = (tuple(input.shape), tuple(input.stride()), input.dtype, weight is None, eps)
    if key not in graphs:
        x, columns = input.contiguous(), math.prod(normalized_shape)
        w = weight.contiguous() if weight is not None else x
        y = torch.empty_like(x)
        options = {"WEIGHTED": weight is not None, "BLOCK": triton.next_power_of_2(columns)}
        graphs[key] = (x.numel() // columns,), (x, w, y, columns, 2**-23 if eps is None else eps), options
    grid, arguments, options = graphs[key]
    if grid[0]:
        norm[grid](*arguments, **options)
    return arguments[2].clone()
