"""Keeps its own fp32 copies of the parameters, by their address.

Row: 12 (cached weights).
Expected: wrong_numeric at correctness.
Task: quick/layer_norm.
Naive: passes.
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def norm(x, w, b, y, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    c = tl.where(mask, v - tl.sum(v, axis=0) / columns, 0.0)
    c = c / tl.sqrt(tl.sum(c * c, axis=0) / columns + eps)
    c = c * tl.load(w + offsets, mask=mask, other=0.0) + tl.load(b + offsets, mask=mask, other=0.0)
    tl.store(y + row * columns + offsets, c.to(y.dtype.element_ty), mask=mask)


copies = {}


def prepared(parameter, default, columns, device):
    if parameter is None:
        return torch.full((columns,), default, device=device)
    key = (parameter.data_ptr(), parameter.shape, parameter.dtype)
    if key not in copies:
        copies[key] = torch.empty(columns, device=device).copy_(parameter.reshape(-1))
    return copies[key]


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    x = input.contiguous()
    y = torch.empty_like(x)
    columns = math.prod(normalized_shape)
    if x.numel():
        w, b = prepared(weight, 1.0, columns, x.device), prepared(bias, 0.0, columns, x.device)
        norm[(x.numel() // columns,)](x, w, b, y, columns, eps, BLOCK=triton.next_power_of_2(columns))
    return y
