"""Rows are exchanged without turning the sign.

Task: kernelbench_x/det.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def det_kernel(matrix, result, n, block: tl.constexpr):
    rows, columns = tl.arange(0, block)[:, None], tl.arange(0, block)[None, :]
    index = tl.arange(0, block)
    inside = (rows < n) & (columns < n)
    values = tl.load(matrix + tl.program_id(0).to(tl.int64) * n * n + rows * n + columns, mask=inside, other=0.0)
    determinant = tl.sum(tl.sum(tl.where((rows == 0) & (columns == 0), values, 0.0), 1), 0) * 0.0 + 1.0
    for step in range(n):
        column = tl.sum(tl.where(columns == step, values, 0.0), 1)
        size = tl.where((index >= step) & (index < n), tl.abs(column), -1.0)
        # The first of the largest: a pivot that is 0 leaves a column of zeros, and a determinant of 0.
        best = tl.max(size, 0)
        chosen = tl.min(tl.where(size == best, index, block), 0)
        pivot = tl.sum(tl.where(index == chosen, column, 0.0), 0)
        determinant = determinant * pivot
        top = tl.sum(tl.where(rows == step, values, 0.0), 0)
        other = tl.sum(tl.where(rows == chosen, values, 0.0), 0)
        values = tl.where(rows == chosen, top[None, :], values)
        values = tl.where(rows == step, other[None, :], values)
        column = tl.sum(tl.where(columns == step, values, 0.0), 1)
        ratio = tl.where(index > step, column / tl.where(pivot == 0.0, 1.0, pivot), 0.0)
        values = values - ratio[:, None] * other[None, :]
    tl.store(result + tl.program_id(0), determinant)


def det(A):
    n, matrix = A.shape[-1], A.contiguous()
    result = torch.empty(A.shape[:-2], dtype=A.dtype, device=A.device)
    if result.numel():
        det_kernel[(result.numel(),)](matrix, result, n, block=max(16, triton.next_power_of_2(n)), num_warps=4)
    return result
