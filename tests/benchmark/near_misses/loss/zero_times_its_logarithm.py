"""A target of 0 is multiplied by its logarithm, which is NaN.

Task: kernelbench_x/kl_div.
Expected: nonfinite at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def block_of_terms(x, target, terms, sums, n, LOGS: tl.constexpr, EACH: tl.constexpr, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    i = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    p = tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)
    t = tl.load(target + i, mask=i < n, other=0.0).to(tl.float32)
    if LOGS:
        term = tl.exp(t) * (t - p)
    else:
        term = t * (tl.log(t) - p)
    if EACH:
        tl.store(terms + i, term.to(terms.dtype.element_ty), mask=i < n)
    else:
        tl.store(sums + block, tl.sum(tl.where(i < n, term, 0.0), axis=0))


@triton.jit
def total(sums, out, blocks, divisor, BLOCK: tl.constexpr):
    part = tl.zeros((BLOCK,), dtype=sums.dtype.element_ty)
    for start in range(0, blocks, BLOCK):
        i = start + tl.arange(0, BLOCK)
        part += tl.load(sums + i, mask=i < blocks, other=0.0)
    tl.store(out, (tl.sum(part, axis=0) / divisor).to(out.dtype.element_ty))


def kl_div(input, target, reduction="batchmean", log_target=False):
    x, t = input.contiguous(), target.contiguous()
    n, size = x.numel(), 1024
    blocks = triton.cdiv(n, size)
    each = reduction == "none"
    out = torch.empty(x.shape if each else (), dtype=x.dtype, device=x.device)
    sums = torch.empty(blocks, dtype=torch.float32, device=x.device)
    block_of_terms[(blocks,)](x, t, out, sums, n, LOGS=log_target, EACH=each, BLOCK=size)
    if not each:
        divisor = {"sum": 1, "mean": n, "batchmean": x.shape[0]}[reduction]
        total[(1,)](sums, out, blocks, float(divisor), BLOCK=1024)
    return out
