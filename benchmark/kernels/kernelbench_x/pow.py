"""Powers: of floats by the device library, whose pow knows signs, zeros and infinities; of integers by repeated squaring."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def pow_kernel(base, exponent, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(base + offsets, mask=mask, other=1)
    y = tl.load(exponent + offsets, mask=mask, other=1)
    if x.dtype.is_floating():
        value = libdevice.pow(x.to(tl.float32), y.to(tl.float32))
    else:
        value = tl.full((BLOCK,), 1, x.dtype)
        for _ in range(31):
            value = tl.where(y & 1 == 1, value * x, value)
            x = x * x
            y = y >> 1
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def pow(input_tensor, exponent, out=None):
    common = torch.result_type(input_tensor, exponent)
    if not isinstance(exponent, torch.Tensor):
        exponent = torch.full_like(input_tensor, exponent, dtype=common)
    x, y = (tensor.to(common).contiguous() for tensor in torch.broadcast_tensors(input_tensor, exponent))
    result = torch.empty_like(x)
    n = x.numel()
    if n:
        pow_kernel[(triton.cdiv(n, 512),)](x, y, result, n, BLOCK=512)
    return result if out is None else out.copy_(result)
