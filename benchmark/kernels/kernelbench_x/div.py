"""Division with the three rounding modes. Floats are divided with correct rounding, and the whole quotient is corrected by its exact
remainder (one fused multiply-add), so that neither a multiple nor a quotient just below a whole number is missed."""

import torch
import triton
import triton.language as tl


@triton.jit
def div_kernel(x, y, out, n, mode: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.load(x + offsets, mask=mask, other=0)
    b = tl.load(y + offsets, mask=mask, other=1)
    if mode == "true":
        value = tl.div_rn(a.to(tl.float32), b.to(tl.float32))
    elif a.dtype.is_floating():
        a, b = a.to(tl.float32), b.to(tl.float32)
        top, bottom = tl.abs(a), tl.abs(b)
        whole = tl.floor(tl.div_rn(top, bottom))
        rest = tl.fma(-whole, bottom, top)
        # Rounded up to the next whole number: one too many.
        whole = tl.where(rest < 0, whole - 1, whole)
        negative = (a < 0) != (b < 0)
        if mode == "floor":
            whole = tl.where(negative & (rest != 0), whole + 1, whole)
        value = tl.where(negative, -whole, whole)
    else:
        # Integer division rounds towards zero.
        value = a // b
        if mode == "floor":
            value = tl.where((a % b != 0) & ((a < 0) != (b < 0)), value - 1, value)
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def div(input, other, rounding_mode=None, out=None):
    common = torch.result_type(input, other)
    if not isinstance(other, torch.Tensor):
        other = torch.full_like(input, other, dtype=common)
    x, y = (tensor.to(common).contiguous() for tensor in torch.broadcast_tensors(input, other))
    if rounding_mode is None and not common.is_floating_point:
        common = torch.float32
    result = torch.empty(x.shape, dtype=common, device=x.device)
    n = x.numel()
    if n:
        div_kernel[(triton.cdiv(n, 1024),)](x, y, result, n, mode=rounding_mode or "true", BLOCK=1024)
    return result if out is None else out.copy_(result)
