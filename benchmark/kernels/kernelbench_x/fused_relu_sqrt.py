"""sqrt(relu(x)): negative numbers become 0, NaN stays NaN (a comparison with it is false). In place it reads and writes the same memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_sqrt_kernel(x, out, n, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0).to(WIDE)
    tl.store(out + offsets, tl.sqrt(tl.where(v < 0, 0.0, v)).to(out.dtype.element_ty), mask=mask)


def fused_relu_sqrt(input, inplace=False, out=None):
    x = input.contiguous()
    dtype = x.dtype if x.dtype.is_floating_point else torch.float32
    wanted = input if inplace else out
    result = wanted if wanted is not None and wanted.is_contiguous() else torch.empty(x.shape, dtype=dtype, device=x.device)
    n = x.numel()
    if n:
        wide = tl.float64 if dtype == torch.float64 else tl.float32
        relu_sqrt_kernel[(triton.cdiv(n, 1024),)](x, result, n, WIDE=wide, BLOCK=1024)
    return result if wanted is None or wanted is result else wanted.copy_(result)
