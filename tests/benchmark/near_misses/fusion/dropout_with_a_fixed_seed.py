"""The seed is a constant, so that every call drops the same elements.

Task: kernelbench_x/fused_hardshrink_dropout.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout_hardshrink(x, out, n, p, scale, lambd, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    v = tl.where(tl.rand(seed, offsets) >= p, v * scale, 0.0)
    tl.store(out + offsets, tl.where(tl.abs(v) > lambd, v, 0.0).to(out.dtype.element_ty), mask=mask)


def fused_hardshrink_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if not training:
        p = 0.0
    if n:
        scale = 1.0 / (1.0 - p) if p < 1 else 0.0
        seed = 1234
        dropout_hardshrink[(triton.cdiv(n, 1024),)](x, out, n, float(p), scale, float(lambd), seed, BLOCK=1024)
    return out
