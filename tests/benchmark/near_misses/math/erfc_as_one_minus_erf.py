"""erfc as 1 - erf(x): no digits are left in the tail.

Task: kernelbench_x/erfc_sqrt.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def erfc_sqrt_kernel(x, erfc, root, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(erfc + offsets, (1.0 - tl.erf(v)).to(erfc.dtype.element_ty), mask=mask)
    tl.store(root + offsets, tl.sqrt(v).to(root.dtype.element_ty), mask=mask)


def erfc_sqrt(input):
    x = input.contiguous()
    erfc, root = torch.empty_like(x), torch.empty_like(x)
    n = x.numel()
    if n:
        erfc_sqrt_kernel[(triton.cdiv(n, 1024),)](x, erfc, root, n, BLOCK=1024)
    return erfc, root
