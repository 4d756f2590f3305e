"""Positions that are ignored count in the divisor of the mean.

Task: kernelbench_x/nll_loss.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def block_of_positions(
    x, target, weight, loss, sums, used, n, inner, xn, xc, xs, ignore,
    HAS_WEIGHT: tl.constexpr, EACH: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(0)
    i = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    t = tl.load(target + i, mask=i < n, other=ignore)
    counts = (i < n) & (t != ignore)
    t = tl.where(counts, t, 0)
    w = tl.where(counts, 1.0, 0.0)
    if HAS_WEIGHT:
        w = tl.load(weight + t, mask=counts, other=0.0).to(tl.float32)
    value = -w * tl.load(x + i // inner * xn + t * xc + i % inner * xs, mask=counts, other=0.0).to(tl.float32)
    if EACH:
        tl.store(loss + i, value.to(loss.dtype.element_ty), mask=i < n)
    else:
        tl.store(sums + block, tl.sum(value, axis=0))
        tl.store(used + block, tl.sum(tl.where(i < n, 1.0, 0.0), axis=0))


@triton.jit
def total(sums, used, out, blocks, MEAN: tl.constexpr, BLOCK: tl.constexpr):
    top = tl.zeros((BLOCK,), dtype=tl.float32)
    bottom = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, blocks, BLOCK):
        i = start + tl.arange(0, BLOCK)
        top += tl.load(sums + i, mask=i < blocks, other=0.0)
        bottom += tl.load(used + i, mask=i < blocks, other=0.0)
    value = tl.sum(top, axis=0)
    if MEAN:
        value = value / tl.sum(bottom, axis=0)
    tl.store(out, value.to(out.dtype.element_ty))


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    x = input.reshape(*input.shape[:2], -1)
    n, size = target.numel(), 128
    blocks = triton.cdiv(n, size)
    each = reduction == "none"
    out = torch.empty(target.shape if each else (), dtype=x.dtype, device=x.device)
    sums = torch.empty((2, blocks), dtype=torch.float32, device=x.device)
    block_of_positions[(blocks,)](
        x, target.contiguous(), x if weight is None else weight.contiguous(), out, sums[0], sums[1], n, x.shape[2], *x.stride(),
        ignore_index, HAS_WEIGHT=weight is not None, EACH=each, BLOCK=size,
    )  # fmt: skip
    if not each:
        total[(1,)](sums[0], sums[1], out, blocks, MEAN=reduction == "mean", BLOCK=1024)
    return out
