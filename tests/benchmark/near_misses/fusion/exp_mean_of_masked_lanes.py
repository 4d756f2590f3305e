"""Lanes beyond the row are loaded as 0 and go through the exponential: exp(0) = 1 leaks into the mean.

Task: kernelbench_x/fused_exp_mean.
Expected: wrong_numeric at correctness.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def exp_mean_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        v = tl.load(x + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
        total += tl.exp(v)
    tl.store(out + row, (tl.sum(total, axis=0) / columns).to(out.dtype.element_ty))


def fused_exp_mean(input, dim=None, keepdim=False, dtype=None, out=None):
    x = input if dtype is None else input.to(dtype)
    axes = range(x.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    axes = sorted(axis % x.dim() for axis in axes)
    rest = [axis for axis in range(x.dim()) if axis not in axes]
    rows, columns = math.prod(x.shape[a] for a in rest), math.prod(x.shape[a] for a in axes)
    flat = x.permute(rest + axes).contiguous()
    shape = [1 if a in axes else x.shape[a] for a in range(x.dim())] if keepdim else [x.shape[a] for a in rest]
    result = torch.empty(shape, dtype=x.dtype, device=x.device)
    if rows:
        exp_mean_rows[(rows,)](flat, result, columns, BLOCK=min(4096, triton.next_power_of_2(columns)))
    return result if out is None else out.copy_(result)
