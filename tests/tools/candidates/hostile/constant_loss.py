"""Knows what the mean loss of uniform logits is, and stores it.

Row: 19 (a constant that the inputs' distribution makes nearly right).
Expected: wrong_numeric at correctness.
Task: quick/cross_entropy.
Naive: passes.
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def fill(y, value, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, (value + tl.zeros((BLOCK,), dtype=tl.float32)).to(y.dtype.element_ty), mask=offsets < n)


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    each = math.log(input.shape[1] * (math.e - 1)) - 0.5
    y = torch.empty(target.shape if reduction == "none" else (), dtype=input.dtype, device=input.device)
    value = each * target.numel() if reduction == "sum" else each
    fill[(triton.cdiv(y.numel(), 256),)](y, value, y.numel(), BLOCK=256)
    return y
