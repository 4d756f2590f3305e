"""The larger of x and slope * x: right for slopes within 0 .. 1 only.

Task: kernelbench_x/leaky_relu.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def leaky_relu_kernel(x, out, n, slope, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    value = tl.maximum(v, slope * v, propagate_nan=tl.PropagateNan.ALL)
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    x = input.contiguous()
    out = x if inplace else torch.empty_like(x)
    n = x.numel()
    if n:
        leaky_relu_kernel[(triton.cdiv(n, 1024),)](x, out, n, float(negative_slope), BLOCK=1024)
    if inplace and out is not input:
        input.copy_(out)
    return input if inplace else out
