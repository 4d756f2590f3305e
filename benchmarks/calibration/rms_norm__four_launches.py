"""Squares, their mean, the quotient and the weight each have a kernel; what lies between goes through memory in fp32."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def squares_kernel(x, s, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    tl.store(s + offsets, v * v, mask=offsets < n)


@triton.jit
def scales_kernel(s, scales, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(s + row * columns + offsets, mask=offsets < columns, other=0.0)
    tl.store(scales + row, 1.0 / tl.sqrt(tl.sum(total, axis=0) / columns + eps))


@triton.jit
def quotients(x, scales, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask).to(tl.float32) * tl.load(scales + row)
    tl.store(y + row * columns + offsets, v, mask=mask)


@triton.jit
def weighted(y, weight, out, columns, HAS_WEIGHT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(y + row * columns + offsets, mask=mask)
    if HAS_WEIGHT:
        v = v * tl.load(weight + offsets, mask=mask).to(tl.float32)
    tl.store(out + row * columns + offsets, v.to(out.dtype.element_ty), mask=mask)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    x = input.contiguous()
    out = torch.empty_like(x)
    columns = math.prod(normalized_shape)
    rows = x.numel() // columns
    if rows:
        w = weight.contiguous() if weight is not None else x
        eps, has = 2**-23 if eps is None else eps, weight is not None
        s, y = (torch.empty(x.shape, dtype=torch.float32, device=x.device) for _ in range(2))
        scales = torch.empty(rows, dtype=torch.float32, device=x.device)
        n, grid = x.numel(), (rows, triton.cdiv(columns, 1024))
        squares_kernel[(triton.cdiv(n, 1024),)](x, s, n, BLOCK=1024)
        scales_kernel[(rows,)](s, scales, columns, eps, BLOCK=1024)
        quotients[grid](x, scales, y, columns, BLOCK=1024)
        weighted[grid](y, w, out, columns, HAS_WEIGHT=has, BLOCK=1024)
    return out
