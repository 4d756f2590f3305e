"""Reads the classes by their stride, several positions per program; partial sums of the programs are added up in order.

Temptation: no copy of a layout that is not the kernel's favourite; a scratch buffer read by another kernel
Task: quick/cross_entropy
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def loss_tile(
    x, target, weight, out, parts, positions, classes, inner, batch_stride, class_stride, ignore,
    EACH: tl.constexpr, HAS_WEIGHT: tl.constexpr, P: tl.constexpr, C: tl.constexpr,
):
    p = tl.program_id(0) * P + tl.arange(0, P)
    here = p < positions
    base = (p // inner).to(tl.int64) * batch_stride + p % inner
    peak = tl.full((P,), -float("inf"), tl.float32)
    total = tl.zeros((P,), tl.float32)
    for start in range(0, classes, C):
        c = start + tl.arange(0, C)
        mask = here[:, None] & (c[None, :] < classes)
        v = tl.load(x + base[:, None] + c[None, :].to(tl.int64) * class_stride, mask=mask, other=-float("inf")).to(tl.float32)
        higher = tl.maximum(peak, tl.max(v, axis=1))
        safe = tl.where(here, higher, 0.0)
        total = total * tl.exp(peak - safe) + tl.sum(tl.exp(v - safe[:, None]), axis=1)
        peak = higher
    t = tl.load(target + p, mask=here, other=ignore)
    counts = here & (t != ignore)
    w = tl.full((P,), 1.0, tl.float32)
    if HAS_WEIGHT:
        w = tl.load(weight + t, mask=counts, other=0.0).to(tl.float32)
    logit = tl.load(x + base + t * class_stride, mask=counts, other=0.0).to(tl.float32)
    loss = tl.where(counts, w * (tl.log(total) + peak - logit), 0.0)
    if EACH:
        tl.store(out + p, loss.to(out.dtype.element_ty), mask=here)
    else:
        tl.store(parts + 2 * tl.program_id(0), tl.sum(loss, axis=0))
        tl.store(parts + 2 * tl.program_id(0) + 1, tl.sum(tl.where(counts, w, 0.0), axis=0))


@triton.jit
def add_parts(parts, out, count, MEAN: tl.constexpr, BLOCK: tl.constexpr):
    top, bottom = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, count, BLOCK):
        at = start + tl.arange(0, BLOCK)
        top += tl.load(parts + 2 * at, mask=at < count, other=0.0)
        bottom += tl.load(parts + 2 * at + 1, mask=at < count, other=0.0)
    value = tl.sum(top, axis=0)
    tl.store(out, (value / tl.sum(bottom, axis=0) if MEAN else value).to(out.dtype.element_ty))


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean"):
    inner = math.prod(target.shape[1:])
    x = input if input.dim() == 2 else input.contiguous()
    positions, each = target.numel(), reduction == "none"
    out = torch.empty(target.shape if each else (), dtype=input.dtype, device=x.device)
    P = 4
    programs = triton.cdiv(positions, P)
    parts = torch.empty((programs, 2), dtype=torch.float32, device=x.device)
    w = x if weight is None else weight.contiguous()
    loss_tile[(programs,)](
        x, target.contiguous(), w, out, parts, positions, x.shape[1], inner, x.stride(0), x.stride(1), ignore_index,
        EACH=each, HAS_WEIGHT=weight is not None, P=P, C=512,
    )
    if not each:
        add_parts[(1,)](parts, out, programs, MEAN=reduction == "mean", BLOCK=256)
    return out
