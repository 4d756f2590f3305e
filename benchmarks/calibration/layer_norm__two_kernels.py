"""Centred values go through memory in fp32."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def centre(x, centred, scales, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    v = tl.where(mask, v - tl.sum(v, axis=0) / columns, 0.0)
    tl.store(centred + row * columns + offsets, v, mask=mask)
    tl.store(scales + row, 1.0 / tl.sqrt(tl.sum(v * v, axis=0) / columns + eps))


@triton.jit
def scale(centred, scales, weight, bias, out, columns, HAS_WEIGHT: tl.constexpr, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < columns
    y = tl.load(centred + row * columns + offsets, mask=mask, other=0.0) * tl.load(scales + row)
    if HAS_WEIGHT:
        y = y * tl.load(weight + offsets, mask=mask, other=0.0).to(tl.float32)
    if HAS_BIAS:
        y = y + tl.load(bias + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * columns + offsets, y.to(out.dtype.element_ty), mask=mask)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    x = input.contiguous()
    out = torch.empty_like(x)
    columns = math.prod(normalized_shape)
    rows = x.numel() // columns
    if rows:
        w = weight.contiguous() if weight is not None else x
        b = bias.contiguous() if bias is not None else x
        has = {"HAS_WEIGHT": weight is not None, "HAS_BIAS": bias is not None}
        centred = torch.empty(x.shape, dtype=torch.float32, device=x.device)
        scales = torch.empty(rows, dtype=torch.float32, device=x.device)
        centre[(rows,)](x, centred, scales, columns, eps, BLOCK=triton.next_power_of_2(columns), num_warps=8)
        scale[(rows, triton.cdiv(columns, 1024))](centred, scales, w, b, out, columns, BLOCK=1024, **has)
    return out
