"""Products with broadcasting and promotion; complex numbers as pairs of real ones."""

import torch
import triton
import triton.language as tl


@triton.jit
def mul_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask, other=0)
    b = tl.load(y + offsets, mask=mask, other=0)
    tl.store(out + offsets, a * b, mask=mask)


@triton.jit
def complex_mul_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = 2 * (tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK))
    mask = offsets < 2 * n
    a, b = tl.load(x + offsets, mask=mask, other=0.0), tl.load(x + offsets + 1, mask=mask, other=0.0)
    c, d = tl.load(y + offsets, mask=mask, other=0.0), tl.load(y + offsets + 1, mask=mask, other=0.0)
    tl.store(out + offsets, a * c - b * d, mask=mask)
    tl.store(out + offsets + 1, a * d + b * c, mask=mask)


def mul(input, other, out=None):
    common = torch.result_type(input, other)
    if not isinstance(other, torch.Tensor):
        other = torch.full_like(input, other, dtype=common)
    x, y = (tensor.to(common).contiguous() for tensor in torch.broadcast_tensors(input, other))
    result = torch.empty_like(x)
    n = x.numel()
    grid = (triton.cdiv(n, 1024),)
    if n and common.is_complex:
        complex_mul_kernel[grid](torch.view_as_real(x), torch.view_as_real(y), torch.view_as_real(result), n, BLOCK=1024)
    elif n:
        mul_kernel[grid](x, y, result, n, BLOCK=1024)
    return result if out is None else out.copy_(result)
