"""alpha multiplies the difference and not `other` alone.

Task: kernelbench_x/sub.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def sub_kernel(x, y, out, alpha, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask, other=0)
    b = tl.load(y + offsets, mask=mask, other=0)
    if a.dtype.is_floating():
        value = (a.to(tl.float32) - b.to(tl.float32)) * alpha
    else:
        value = (a - b) * alpha
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def sub(input, other, *, alpha=1, out=None):
    if not isinstance(other, torch.Tensor):
        other = torch.full_like(input, other)
    x, y = (tensor.contiguous() for tensor in torch.broadcast_tensors(input, other))
    result = torch.empty_like(x)
    n = x.numel()
    if n:
        sub_kernel[(triton.cdiv(n, 1024),)](x, y, result, alpha, n, BLOCK=1024)
    return result if out is None else out.copy_(result)
