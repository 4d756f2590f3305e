"""One kernel leaves mean and reciprocal deviation of each row in a buffer, a flat one normalises.

Temptation: statistics kept in a buffer between two kernels (state, but of this call only)
Task: quick/layer_norm
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def statistics(x, found, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        total += tl.load(x + row * columns + start + c, mask=start + c < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    square = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        v = tl.load(x + row * columns + start + c, mask=start + c < columns, other=0.0).to(tl.float32)
        d = tl.where(start + c < columns, v - mean, 0.0)
        square += d * d
    tl.store(found + 2 * row, mean)
    tl.store(found + 2 * row + 1, tl.rsqrt(tl.sum(square, axis=0) / columns + eps))


@triton.jit
def normalise(x, found, weight, bias, out, n, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    row, c = at // columns, at % columns
    v = tl.load(x + at, mask=mask).to(tl.float32)
    y = (v - tl.load(found + 2 * row, mask=mask)) * tl.load(found + 2 * row + 1, mask=mask)
    if weight is not None:
        y *= tl.load(weight + c, mask=mask).to(tl.float32)
    if bias is not None:
        y += tl.load(bias + c, mask=mask).to(tl.float32)
    tl.store(out + at, y.to(out.dtype.element_ty), mask=mask)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    x = input.contiguous()
    out = torch.empty_like(x)
    n, columns = x.numel(), math.prod(normalized_shape)
    if n:
        found = torch.empty((n // columns, 2), dtype=torch.float32, device=x.device)
        statistics[(n // columns,)](x, found, columns, eps, BLOCK=512)
        w, b = (t if t is None else t.contiguous() for t in (weight, bias))
        normalise[(triton.cdiv(n, 1024),)](x, found, w, b, out, n, columns, BLOCK=1024)
    return out
