"""Index of the largest value by a running best per lane; a NaN is larger than everything."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def argmax_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    best = tl.full((BLOCK,), -2, dtype=tl.int32)
    value = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    at = tl.zeros((BLOCK,), dtype=tl.int32)
    for start in range(0, columns, BLOCK):
        offsets = start + lanes
        mask = offsets < columns
        v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
        nan = v != v
        rank = tl.where(nan, 1, tl.where(mask, 0, -1))
        clean = tl.where(nan, 0.0, v)
        better = (rank > best) | ((rank == best) & (clean > value))
        best = tl.where(better, rank, best)
        value = tl.where(better, clean, value)
        at = tl.where(better, offsets, at)
    top = tl.max(best, axis=0)
    value = tl.where(best == top, value, -float("inf"))
    peak = tl.max(value, axis=0)
    index = tl.min(tl.where((best == top) & (value == peak), at, 2147483647), axis=0)
    tl.store(out + row, index.to(tl.int64))


def argmax(input_tensor, dim, keepdim=False):
    x = input_tensor.reshape(-1) if dim is None else input_tensor
    axis = 0 if dim is None else dim % x.dim()
    flat = x.movedim(axis, -1).contiguous()
    columns = flat.shape[-1]
    out = torch.empty(flat.shape[:-1], dtype=torch.int64, device=x.device)
    rows = math.prod(flat.shape[:-1])
    if rows:
        argmax_rows[(rows,)](flat, out, columns, BLOCK=1024)
    if dim is None:
        return out.reshape([1] * input_tensor.dim()) if keepdim else out
    return out.unsqueeze(axis) if keepdim else out
