"""The row's maximum and sum in one pass over blocks of the classes; the sums over positions by atomics, the quotient last.

Temptation: atomics of floats that all programs share, and a kernel of a single program
Task: quick/cross_entropy
"""
import torch
import triton
import triton.language as tl


@triton.jit
def losses(x, target, weight, out, sums, columns, ignore, EACH: tl.constexpr, HAS_WEIGHT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * columns
    peak, total = -float("inf"), 0.0
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + at, mask=at < columns, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(v, axis=0))
        total = total * tl.exp(peak - higher) + tl.sum(tl.exp(v - higher), axis=0)
        peak = higher
    t = tl.load(target + row)
    loss, used = 0.0, 0.0
    if t != ignore:
        used = 1.0
        if HAS_WEIGHT:
            used = tl.load(weight + t).to(tl.float32)
        loss = used * (tl.log(total) + (peak - tl.load(x + t).to(tl.float32)))
    if EACH:
        tl.store(out + row, loss.to(out.dtype.element_ty))
    else:
        tl.atomic_add(sums, loss)
        tl.atomic_add(sums + 1, used)


@triton.jit
def finish(sums, out, MEAN: tl.constexpr):
    value = tl.load(sums)
    if MEAN:
        value /= tl.load(sums + 1)
    tl.store(out, value.to(out.dtype.element_ty))


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    x, t = input.movedim(1, -1).contiguous(), target.contiguous()
    each = reduction == "none"
    out = torch.empty(target.shape if each else (), dtype=input.dtype, device=x.device)
    sums = torch.zeros(2, dtype=torch.float32, device=x.device)
    w = x if weight is None else weight.contiguous()
    losses[(t.numel(),)](x, t, w, out, sums, x.shape[-1], ignore_index, EACH=each, HAS_WEIGHT=weight is not None, BLOCK=2048)
    if not each:
        finish[(1,)](sums, out, MEAN=reduction == "mean")
    return out
