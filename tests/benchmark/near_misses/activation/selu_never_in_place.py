"""With inplace=True the right values are returned in a new tensor, and `input` keeps its old ones.

Task: kernelbench_x/selu.
Expected: wrong_shape at correctness.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def selu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    value = 1.0507009873554805 * tl.where(v > 0, v, 1.6732632423543772 * libdevice.expm1(v))
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def selu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        selu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out
