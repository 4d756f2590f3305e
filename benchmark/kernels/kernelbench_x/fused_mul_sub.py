"""input * other_mul - alpha * other_sub in one pass: one program per block of elements, tensors broadcast on the host."""

import torch
import triton
import triton.language as tl


@triton.jit
def mul_sub_kernel(
    x, mul, sub, out, n, alpha, MUL_IS_NUMBER: tl.constexpr, SUB_IS_NUMBER: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr
):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0).to(WIDE)
    if MUL_IS_NUMBER:
        v = v * mul
    else:
        v = v * tl.load(mul + offsets, mask=mask, other=0).to(WIDE)
    if SUB_IS_NUMBER:
        v = v - alpha * sub
    else:
        v = v - alpha * tl.load(sub + offsets, mask=mask, other=0).to(WIDE)
    tl.store(out + offsets, v.to(out.dtype.element_ty), mask=mask)


def fused_mul_sub(input, other_mul, other_sub, alpha=1, out=None):
    tensors = [t for t in (input, other_mul, other_sub) if isinstance(t, torch.Tensor)]
    shape = torch.broadcast_shapes(*(t.shape for t in tensors))
    x, mul, sub = (t.expand(shape).contiguous() if isinstance(t, torch.Tensor) else t for t in (input, other_mul, other_sub))
    result = torch.empty(shape, dtype=x.dtype, device=x.device)
    n = result.numel()
    if n:
        mul_sub_kernel[(triton.cdiv(n, 1024),)](
            x,
            mul,
            sub,
            result,
            n,
            alpha,
            MUL_IS_NUMBER=not isinstance(mul, torch.Tensor),
            SUB_IS_NUMBER=not isinstance(sub, torch.Tensor),
            WIDE=tl.float32 if x.dtype.is_floating_point else tl.int64,
            BLOCK=1024,
        )
    return result if out is None else out.copy_(result)
