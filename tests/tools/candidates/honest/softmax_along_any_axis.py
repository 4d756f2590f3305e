"""Tiles of (axis, inner) are reduced along their first axis; neither input nor output is moved or copied.

Temptation: strided access along an axis that is not the last (reads that are not coalesced, and right)
Task: quick/softmax
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_columns(x, y, length, inner, LENGTH: tl.constexpr, INNER: tl.constexpr):
    outer = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, LENGTH)[:, None]
    i = tl.program_id(1) * INNER + tl.arange(0, INNER)[None, :]
    mask = (k < length) & (i < inner)
    at = outer * length * inner + k.to(tl.int64) * inner + i
    v = tl.load(x + at, mask=mask, other=-float("inf")).to(tl.float32)
    # Lanes beyond `inner` hold -inf only; their NaN is not stored.
    e = tl.exp(v - tl.max(v, axis=0, keep_dims=True))
    tl.store(y + at, (e / tl.sum(e, axis=0, keep_dims=True)).to(y.dtype.element_ty), mask=mask)


def softmax(input, dim, dtype=None):
    x = input.contiguous()
    y = torch.empty(x.shape, dtype=dtype or x.dtype, device=x.device)
    axis = dim % x.dim()
    length, inner = x.shape[axis], math.prod(x.shape[axis + 1 :])
    if x.numel():
        INNER = 1 if inner == 1 else 8
        grid = (math.prod(x.shape[:axis]), triton.cdiv(inner, INNER))
        softmax_columns[grid](x, y, length, inner, LENGTH=triton.next_power_of_2(length), INNER=INNER, num_warps=8 if length > 2048 else 4)
    return y
