"""Tiles of rows and columns; a row vector or a column vector is loaded once per tile and broadcast in registers.

Temptation: shape-guarded dispatch (early return for empty inputs, a special path for matrices)
Task: quick/add
"""
import torch
import triton
import triton.language as tl


@triton.jit
def combine(a, b, alpha):
    if a.dtype.is_floating():
        return (a.to(tl.float32) + alpha * b.to(tl.float32)).to(a.dtype)
    else:
        return a + alpha * b


@triton.jit
def add_flat(x, y, out, alpha, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, combine(tl.load(x + offsets, mask=mask), tl.load(y + offsets, mask=mask), alpha), mask=mask)


@triton.jit
def add_tile(x, y, out, alpha, rows, columns, stride, BR: tl.constexpr, BC: tl.constexpr):
    r = tl.program_id(0) * BR + tl.arange(0, BR)[:, None]
    c = tl.program_id(1) * BC + tl.arange(0, BC)[None, :]
    mask = (r < rows) & (c < columns)
    at = r.to(tl.int64) * columns + c
    b = tl.load(y + c * stride, mask=c < columns)
    tl.store(out + at, combine(tl.load(x + at, mask=mask), b, alpha), mask=mask)


def add(input, other, alpha=1):
    if not isinstance(other, torch.Tensor):
        other = input.new_full((1,), other)
    if input.dim() == 2 and other.dim() == 1 and other.shape[0] in (1, input.shape[1]) and input.is_contiguous() and input.numel():
        out = torch.empty_like(input)
        rows, columns = input.shape
        stride = other.stride(0) if other.shape[0] > 1 else 0
        add_tile[(triton.cdiv(rows, 16), triton.cdiv(columns, 64))](input, other, out, alpha, rows, columns, stride, BR=16, BC=64)
        return out
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    out = torch.empty_like(x)
    if out.numel() == 0:
        return out
    add_flat[(triton.cdiv(out.numel(), 1024),)](x, y, out, alpha, out.numel(), BLOCK=1024)
    return out
