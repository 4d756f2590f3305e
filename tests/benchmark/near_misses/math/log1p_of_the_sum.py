"""log1p as log(1 + x): small x are rounded away before the logarithm sees them.

Task: kernelbench_x/log1p.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def log1p_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + offsets, tl.log(1.0 + v).to(out.dtype.element_ty), mask=mask)


def log1p(input, out=None):
    x = input.contiguous()
    result = torch.empty_like(x)
    n = x.numel()
    if n:
        log1p_kernel[(triton.cdiv(n, 1024),)](x, result, n, BLOCK=1024)
    return result if out is None else out.copy_(result)
