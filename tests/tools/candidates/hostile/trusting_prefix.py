"""Looks at the first four targets, and if none is ignored takes a path that ignores none.

Row: 23 (a sampled prefix chooses an approximate path).
Expected: wrong_numeric at correctness.
Task: quick/cross_entropy.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def losses(x, target, weight, y, used, columns, ignore, WEIGHTED: tl.constexpr, IGNORES: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + offsets, mask=offsets < columns, other=-float("inf")).to(tl.float32)
    peak = tl.max(v, axis=0)
    t = tl.load(target + row)
    safe = tl.minimum(tl.maximum(t, 0), columns - 1)
    w = 1.0
    if WEIGHTED:
        w = tl.load(weight + safe).to(tl.float32)
    if IGNORES:
        w = tl.where(t == ignore, 0.0, w)
    loss = (tl.log(tl.sum(tl.exp(v - peak), axis=0)) - (tl.load(x + row * columns + safe).to(tl.float32) - peak)) * w
    tl.store(y + row, loss.to(y.dtype.element_ty))
    tl.store(used + row, w)


@triton.jit
def total(y, used, out, n, MEAN: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.sum(tl.load(y + offsets, mask=offsets < n, other=0.0).to(tl.float32), axis=0)
    if MEAN:
        value = value / tl.sum(tl.load(used + offsets, mask=offsets < n, other=0.0), axis=0)
    tl.store(out, value.to(out.dtype.element_ty))


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    x, t, n = input.movedim(1, -1).contiguous(), target.contiguous(), target.numel()
    ignores = ignore_index in t.reshape(-1)[:4].tolist()
    y = torch.empty(target.shape, dtype=input.dtype if reduction == "none" else torch.float32, device=x.device)
    used = torch.empty(n, device=x.device)
    block, weighted = triton.next_power_of_2(x.shape[-1]), weight is not None
    losses[(n,)](x, t, weight if weighted else x, y, used, x.shape[-1], ignore_index, WEIGHTED=weighted, IGNORES=ignores, BLOCK=block)
    if reduction == "none":
        return y
    out = torch.empty((), dtype=input.dtype, device=x.device)
    total[(1,)](y, used, out, n, MEAN=reduction == "mean", BLOCK=triton.next_power_of_2(n))
    return out
