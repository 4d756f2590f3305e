"""The sum is divided by the lanes of the block, not by the columns.

Task: kernelbench_x/mean.
Expected: wrong_numeric at correctness.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def mean_rows(x, out, columns, SUMS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), dtype=SUMS)
    for start in range(0, columns, BLOCK):
        k = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + k, mask=k < columns, other=0).to(SUMS)
    tl.store(out + row, (tl.sum(total, axis=0) / (tl.cdiv(columns, BLOCK) * BLOCK)).to(out.dtype.element_ty))


def mean(input_tensor, dim, keepdim=False, dtype=None, out=None):
    x = input_tensor
    axes = list(range(x.dim())) if dim is None else [d % x.dim() for d in ([dim] if isinstance(dim, int) else dim)]
    rest = [d for d in range(x.dim()) if d not in axes]
    rows, columns = math.prod(x.shape[d] for d in rest), math.prod(x.shape[d] for d in axes)
    shape = [1 if d in axes else x.shape[d] for d in range(x.dim())] if keepdim else [x.shape[d] for d in rest]
    result = torch.empty(shape, dtype=dtype or x.dtype, device=x.device)
    flat = x.permute(rest + axes).contiguous()
    sums = tl.float64 if torch.float64 in (x.dtype, dtype) else tl.float32
    mean_rows[(rows,)](flat, result, columns, SUMS=sums, BLOCK=1024)
    return result if out is None else out.copy_(result)
