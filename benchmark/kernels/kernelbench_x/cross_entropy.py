"""Cross entropy: one program takes the loss of a position; a second kernel divides their sum by the weights."""

import torch
import triton
import triton.language as tl


@triton.jit
def losses(x, target, weight, loss, used, columns, ignore, HAS_WEIGHT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    peak = tl.max(v, axis=0)
    logsum = tl.log(tl.sum(tl.exp(v - peak), axis=0))
    t = tl.load(target + row)
    counts = t != ignore
    safe = tl.where(counts, t, 0)
    logit = tl.load(x + row * columns + safe).to(tl.float32)
    w = 1.0
    if HAS_WEIGHT:
        w = tl.load(weight + safe).to(tl.float32)
    tl.store(loss + row, tl.where(counts, (logsum - (logit - peak)) * w, 0.0).to(loss.dtype.element_ty))
    tl.store(used + row, tl.where(counts, w, 0.0))


@triton.jit
def total(loss, used, out, n, MEAN: tl.constexpr, BLOCK: tl.constexpr):
    top = tl.zeros((BLOCK,), dtype=tl.float32)
    bottom = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        top += tl.load(loss + offsets, mask=offsets < n, other=0.0).to(tl.float32)
        bottom += tl.load(used + offsets, mask=offsets < n, other=0.0)
    value = tl.sum(top, axis=0)
    if MEAN:
        value = value / tl.sum(bottom, axis=0)
    tl.store(out, value.to(out.dtype.element_ty))


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    x = input.movedim(1, -1).contiguous()
    columns, n = x.shape[-1], target.numel()
    t = target.contiguous()
    w = weight.contiguous() if weight is not None else x
    kept = input.dtype if reduction == "none" else torch.float32
    loss = torch.empty(target.shape, dtype=kept, device=x.device)
    used = torch.empty(target.shape, dtype=torch.float32, device=x.device)
    block = triton.next_power_of_2(columns)
    losses[(n,)](x, t, w, loss, used, columns, ignore_index, HAS_WEIGHT=weight is not None, BLOCK=block)
    if reduction == "none":
        return loss
    out = torch.empty((), dtype=input.dtype, device=x.device)
    total[(1,)](loss, used, out, n, MEAN=reduction == "mean", BLOCK=1024)
    return out
