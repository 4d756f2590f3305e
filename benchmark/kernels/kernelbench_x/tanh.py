"""tanh in fp32: exp of -2|x| only, which overflows nowhere, and near 0 an odd polynomial, where the quotient would lose its digits."""

import torch
import triton
import triton.language as tl


@triton.jit
def tanh_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    size = tl.abs(v)
    small = tl.exp(-2.0 * size)
    far = (1.0 - small) / (1.0 + small)
    square = v * v
    near = v * (1 + square * (-1 / 3 + square * (2 / 15 + square * (-17 / 315 + square * (62 / 2835 - square * (1382 / 155925))))))
    value = tl.where(size < 0.3, near, tl.where(v < 0, -far, far))
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def tanh(input_tensor, out_tensor=None):
    x = input_tensor.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        tanh_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out if out_tensor is None else out_tensor.copy_(out)
