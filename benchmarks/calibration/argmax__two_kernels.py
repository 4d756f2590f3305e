"""The largest value first, then a second pass over the row for its place."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def peaks(x, top, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    best = tl.full((BLOCK,), -float("inf"), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + offsets, mask=offsets < columns, other=-float("inf")).to(tl.float32)
        best = tl.where((v != v) | (v > best), v, best)
        best = tl.where(best != best, float("nan"), best)
    spoilt = tl.max((best != best).to(tl.int32), axis=0)
    peak = tl.max(tl.where(best != best, -float("inf"), best), axis=0)
    tl.store(top + row, tl.where(spoilt > 0, float("nan"), peak))


@triton.jit
def places(x, top, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    peak = tl.load(top + row)
    at = tl.full((BLOCK,), 2147483647, dtype=tl.int32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
        found = mask & ((v == peak) | ((v != v) & (peak != peak)))
        at = tl.minimum(at, tl.where(found, offsets, 2147483647))
    tl.store(out + row, tl.min(at, axis=0).to(tl.int64))


def argmax(input_tensor, dim, keepdim=False):
    x = input_tensor.reshape(-1) if dim is None else input_tensor
    axis = 0 if dim is None else dim % x.dim()
    flat = x.movedim(axis, -1).contiguous()
    columns = flat.shape[-1]
    out = torch.empty(flat.shape[:-1], dtype=torch.int64, device=x.device)
    rows = math.prod(flat.shape[:-1])
    if rows:
        top = torch.empty(rows, dtype=torch.float32, device=x.device)
        peaks[(rows,)](flat, top, columns, BLOCK=1024)
        places[(rows,)](flat, top, out, columns, BLOCK=1024)
    if dim is None:
        return out.reshape([1] * input_tensor.dim()) if keepdim else out
    return out.unsqueeze(axis) if keepdim else out
