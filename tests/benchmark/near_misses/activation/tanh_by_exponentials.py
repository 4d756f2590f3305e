"""tanh as (exp(2 x) - 1) / (exp(2 x) + 1): infinity over infinity for large x, and few digits where x is small.

Task: kernelbench_x/tanh.
Expected: nonfinite at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def tanh_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    power = tl.exp(2.0 * tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32))
    tl.store(out + offsets, ((power - 1.0) / (power + 1.0)).to(out.dtype.element_ty), mask=mask)


def tanh(input_tensor, out_tensor=None):
    x = input_tensor.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        tanh_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out if out_tensor is None else out_tensor.copy_(out)
