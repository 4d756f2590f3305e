"""The scaled operand goes through memory."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(y, scaled, alpha, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(scaled + offsets, tl.load(y + offsets, mask=mask).to(scaled.dtype.element_ty) * alpha, mask=mask)


@triton.jit
def sum_kernel(x, scaled, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    value = tl.load(x + offsets, mask=mask).to(scaled.dtype.element_ty) + tl.load(scaled + offsets, mask=mask)
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def add(input, other, alpha=1):
    if not isinstance(other, torch.Tensor):
        other = torch.full_like(input, other)
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    out = torch.empty_like(x)
    n = out.numel()
    alpha = float(alpha) if input.dtype.is_floating_point else alpha
    if n:
        wide = torch.float32 if out.dtype.is_floating_point else out.dtype
        scaled = torch.empty(n, dtype=wide, device=out.device)
        grid = (triton.cdiv(n, 1024),)
        scale_kernel[grid](y, scaled, alpha, n, BLOCK=1024)
        sum_kernel[grid](x, scaled, out, n, BLOCK=1024)
    return out
