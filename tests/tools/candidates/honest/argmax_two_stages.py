"""Best value and index of each part of a row in scratch buffers, then the best of the parts.

Temptation: two-pass reduction with two scratch buffers of different dtypes
Task: quick/argmax
"""
import torch
import triton
import triton.language as tl


@triton.jit
def better(v, i, w, j):
    """Of two candidates the larger value, NaN first, then the smaller index."""
    takes_second = ((w > v) | ((w != w) & (v == v))) | ((w == v) & (j < i)) | ((w != w) & (v != v) & (j < i))
    return tl.where(takes_second, w, v), tl.where(takes_second, j, i)


@triton.jit
def best_of_parts(x, values, indices, columns, chunk, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    best = tl.full((BLOCK,), -float("inf"), tl.float32)
    where = tl.full((BLOCK,), 2147483647, tl.int32)
    end = tl.minimum((part + 1) * chunk, columns)
    for start in range(part * chunk, end, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + at, mask=at < end, other=-float("inf")).to(tl.float32)
        best, where = better(best, where, v, tl.where(at < end, at, 2147483647))
    value, index = tl.reduce((best, where), 0, better)
    tl.store(values + row * PARTS + part, value)
    tl.store(indices + row * PARTS + part, index)


@triton.jit
def best_of_row(values, indices, out, PARTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = row * PARTS + tl.arange(0, PARTS)
    _, index = tl.reduce((tl.load(values + at), tl.load(indices + at)), 0, better)
    tl.store(out + row, index.to(tl.int64))


def rows_of(x, dim):
    """The axis moved last, its length, and the shape of what is left."""
    flat = x.reshape(-1) if dim is None else x.movedim(dim, -1)
    return flat.contiguous(), flat.shape[-1], flat.shape[:-1]


def shaped(out, x, dim, keepdim):
    if not keepdim:
        return out
    return out.view([1] * x.dim()) if dim is None else out.unsqueeze(dim)


def argmax(input_tensor, dim, keepdim=False):
    x, columns, shape = rows_of(input_tensor, dim)
    out = torch.empty(shape, dtype=torch.int64, device=x.device)
    rows = out.numel()
    if rows:
        values = torch.empty((rows, 2), dtype=torch.float32, device=x.device)
        indices = torch.empty((rows, 2), dtype=torch.int32, device=x.device)
        best_of_parts[(rows, 2)](x, values, indices, columns, triton.cdiv(columns, 2), PARTS=2, BLOCK=256)
        best_of_row[(rows,)](values, indices, out, PARTS=2)
    return shaped(out, input_tensor, dim, keepdim)
