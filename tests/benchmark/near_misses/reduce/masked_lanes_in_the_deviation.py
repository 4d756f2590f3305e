"""Lanes behind the end hold 0, less the mean, and their squares are counted.

Task: kernelbench_x/std.
Expected: wrong_numeric at correctness.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def std_rows(x, out, columns, divisor, BLOCK: tl.constexpr):
    row = x + tl.program_id(0).to(tl.int64) * columns
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        k = start + tl.arange(0, BLOCK)
        total += tl.load(row + k, mask=k < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        k = start + tl.arange(0, BLOCK)
        centred = tl.load(row + k, mask=k < columns, other=0.0).to(tl.float32) - mean
        # Lanes behind the end would count the mean.
        squares += centred * centred
    deviation = tl.sqrt_rn(tl.sum(squares, axis=0) / divisor)
    tl.store(out + tl.program_id(0), deviation.to(out.dtype.element_ty))


def std(input, dim=None, correction=1, keepdim=False, out=None):
    x = input
    axes = list(range(x.dim())) if dim is None else [d % x.dim() for d in ([dim] if isinstance(dim, int) else dim)]
    rest = [d for d in range(x.dim()) if d not in axes]
    rows, columns = math.prod(x.shape[d] for d in rest), math.prod(x.shape[d] for d in axes)
    shape = [1 if d in axes else x.shape[d] for d in range(x.dim())] if keepdim else [x.shape[d] for d in rest]
    result = torch.empty(shape, dtype=x.dtype, device=x.device)
    std_rows[(rows,)](x.permute(rest + axes).contiguous(), result, columns, float(max(columns - correction, 0)), BLOCK=1024)
    return result if out is None else out.copy_(result)
