"""Lanes beyond the row are loaded as 0 and never masked again: each adds exp(0 - maximum) to the sum.

Task: kernelbench_x/softmax.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + offsets, (e / tl.sum(e, axis=0)).to(out.dtype.element_ty), mask=mask)


def softmax(input, dim, dtype=None):
    x = input.movedim(dim, -1).contiguous()
    out = torch.empty(x.shape, dtype=dtype or x.dtype, device=x.device)
    columns = x.shape[-1]
    if x.numel():
        softmax_kernel[(x.numel() // columns,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out.movedim(-1, dim)
