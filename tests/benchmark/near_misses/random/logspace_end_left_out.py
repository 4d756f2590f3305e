"""The distance is (end - start) / steps: the last power is not that of the end.

Task: kernelbench_x/logspace.
Expected: wrong_numeric at correctness.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def logspace_kernel(out, steps, start, end, step, log2_base, wide: tl.constexpr, block: tl.constexpr):
    index = tl.program_id(0) * block + tl.arange(0, block)
    dtype: tl.constexpr = tl.float64 if wide else tl.float32
    # The numbers come as fp32 or, boxed, as fp64 tensors of one element.
    first = tl.load(start).to(dtype)
    width, log2 = tl.load(step).to(dtype), tl.load(log2_base).to(dtype)
    exponent = first + width * index.to(dtype)
    power = tl.exp2(exponent * log2)
    tl.store(out + index, power.to(out.dtype.element_ty), mask=index < steps)


def logspace(start, end, steps, base=10.0, dtype=None, layout=torch.strided, device=None, requires_grad=False):
    out = torch.empty(steps, dtype=dtype or torch.float32, device=device)
    if steps:
        step = (end - start) / steps
        numbers = torch.tensor([start, end if steps > 1 else start, step, math.log2(base)], dtype=torch.float64).to(out.device)
        logspace_kernel[(triton.cdiv(steps, 1024),)](
            out, steps, numbers, numbers[1:], numbers[2:], numbers[3:], wide=out.dtype == torch.float64, block=1024
        )
    return out
