"""Broadcasts by strides of zero inside the kernel: no operand is copied, whatever its layout.

Temptation: non-contiguous inputs without `contiguous()` (strides as arguments, four axes)
Task: quick/add
"""
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, alpha, n, d1, d2, d3, x0, x1, x2, x3, y0, y1, y2, y3, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    i3 = offsets % d3
    rest = offsets // d3
    i2 = rest % d2
    rest = rest // d2
    i1 = rest % d1
    i0 = rest // d1
    a = tl.load(x + i0 * x0 + i1 * x1 + i2 * x2 + i3 * x3, mask=mask, other=0)
    b = tl.load(y + i0 * y0 + i1 * y1 + i2 * y2 + i3 * y3, mask=mask, other=0)
    if a.dtype.is_floating():
        value = a.to(tl.float32) + alpha * b.to(tl.float32)
    else:
        value = a + alpha * b
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def add(input, other, alpha=1):
    if not isinstance(other, torch.Tensor):
        other = torch.tensor(other, dtype=input.dtype, device=input.device)
    shape = torch.broadcast_shapes(input.shape, other.shape)
    padded = (1,) * (4 - len(shape)) + tuple(shape)
    x, y = input.expand(shape).expand(padded), other.expand(shape).expand(padded)
    out = torch.empty(shape, dtype=input.dtype, device=input.device)
    n = out.numel()
    if n:
        add_kernel[(triton.cdiv(n, 1024),)](x, y, out, alpha, n, *padded[1:], *x.stride(), *y.stride(), BLOCK=1024)
    return out
