"""The mean is divided by the lanes of all blocks, those behind the end included.

Task: kernelbench_x/mse_loss.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def block_of_squares(x, target, squares, sums, n, EACH: tl.constexpr, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    i = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    # Lanes behind the end hold 0 on both sides, and so add nothing.
    d = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32) - tl.load(target + i, mask=i < n, other=0.0).to(tl.float32)
    if EACH:
        tl.store(squares + i, (d * d).to(squares.dtype.element_ty), mask=i < n)
    else:
        tl.store(sums + block, tl.sum(d * d, axis=0))


@triton.jit
def total(sums, out, blocks, divisor, BLOCK: tl.constexpr):
    part = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, blocks, BLOCK):
        i = start + tl.arange(0, BLOCK)
        part += tl.load(sums + i, mask=i < blocks, other=0.0)
    tl.store(out, (tl.sum(part, axis=0) / divisor).to(out.dtype.element_ty))


def mse_loss(input, target, reduction="mean"):
    x, t = input.contiguous(), target.contiguous()
    n, size = x.numel(), 4096
    blocks = triton.cdiv(n, size)
    each = reduction == "none"
    out = torch.empty(x.shape if each else (), dtype=x.dtype, device=x.device)
    sums = torch.empty(blocks, dtype=torch.float32, device=x.device)
    if blocks:
        block_of_squares[(blocks,)](x, t, out, sums, n, EACH=each, BLOCK=size)
    if not each:
        # The mean of nothing is 0 / 0.
        total[(1,)](sums, out, blocks, float(blocks * size) if reduction == "mean" else 1.0, BLOCK=1024)
    return out
