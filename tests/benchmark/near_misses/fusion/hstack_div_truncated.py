"""Rounding down is done by a conversion to an integer, which rounds negative quotients towards zero.

Task: kernelbench_x/fused_hstack_div.
Expected: wrong_numeric at correctness.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def divide_into_place(x, divisor, out, n, width, total, first, NUMBER: tl.constexpr, MODE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    place = offsets // width * total + first + offsets % width
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    if NUMBER:
        d = tl.zeros((BLOCK,), tl.float32) + divisor
    else:
        d = tl.load(divisor + place, mask=mask, other=1.0).to(tl.float32)
    q = tl.div_rn(v, d)
    if MODE == "floor":
        q = q.to(tl.int64).to(tl.float32)
    if MODE == "trunc":
        q = tl.where(q < 0, tl.ceil(q), tl.floor(q))
    tl.store(out + place, q.to(out.dtype.element_ty), mask=mask)


def fused_hstack_div(tensors, divisor, *, rounding_mode=None, out=None):
    first = tensors[0]
    axis = 0 if first.dim() == 1 else 1
    shape = list(first.shape)
    shape[axis] = sum(t.shape[axis] for t in tensors)
    result = torch.empty(shape, dtype=first.dtype, device=first.device)
    number = not isinstance(divisor, torch.Tensor)
    if not number:
        divisor = divisor.expand(shape).contiguous()
    total, start = math.prod(shape[axis:]), 0
    for tensor in tensors:
        x, n, width = tensor.contiguous(), tensor.numel(), math.prod(tensor.shape[axis:])
        if n:
            divide_into_place[(triton.cdiv(n, 1024),)](
                x, divisor, result, n, width, total, start, NUMBER=number, MODE=rounding_mode, BLOCK=1024
            )
        start += width
    return result if out is None else out.copy_(result)
