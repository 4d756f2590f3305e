"""Elements are summed as they are: the sum of large ones overflows, where softmax would have subtracted the largest logarithm.

Task: kernelbench_x/fused_softmax_log.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def share_rows(x, out, columns, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=0.0).to(WIDE)
    v = tl.where(v < 0, float("nan"), v)  # as the logarithm has it; the sum makes the whole row NaN
    v = v / tl.sum(v, axis=0)
    tl.store(out + row * columns + offsets, v.to(out.dtype.element_ty), mask=mask)


def fused_softmax_log(input, dim=-1, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    out = torch.empty_like(x)
    if x.numel():
        columns = x.shape[-1]
        share_rows[(x.numel() // columns,)](
            x, out, columns, WIDE=tl.float64 if x.dtype == torch.float64 else tl.float32, BLOCK=triton.next_power_of_2(columns)
        )
    return out.movedim(-1, dim)
