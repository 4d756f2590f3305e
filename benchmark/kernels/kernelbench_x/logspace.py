"""Powers of a base with evenly spaced exponents; from the end backwards in the second half, so that both ends are met exactly."""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def logspace_kernel(out, steps, start, end, step, log2_base, wide: tl.constexpr, block: tl.constexpr):
    index = tl.program_id(0) * block + tl.arange(0, block)
    dtype: tl.constexpr = tl.float64 if wide else tl.float32
    # The numbers come as fp32 or, boxed, as fp64 tensors of one element.
    first, last = tl.load(start).to(dtype), tl.load(end).to(dtype)
    width, log2 = tl.load(step).to(dtype), tl.load(log2_base).to(dtype)
    ahead = first + width * index.to(dtype)
    back = last - width * (steps - 1 - index).to(dtype)
    exponent = tl.where(index < steps // 2, ahead, back)
    power = tl.exp2(exponent * log2)
    tl.store(out + index, power.to(out.dtype.element_ty), mask=index < steps)


def logspace(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    out = torch.empty(steps, dtype=dtype or torch.float32, device=device)
    if steps:
        step = (end - start) / (steps - 1) if steps > 1 else 0.0
        numbers = torch.tensor([start, end if steps > 1 else start, step, math.log2(base)], dtype=torch.float64).to(out.device)
        logspace_kernel[(triton.cdiv(steps, 1024),)](
            out, steps, numbers, numbers[1:], numbers[2:], numbers[3:], wide=out.dtype == torch.float64, block=1024
        )
    return out
