"""A NaN is passed over, where it counts as the smallest.

Task: kernelbench_x/min.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def min_rows(x, values, indices, columns, LARGEST: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, BLOCK)
    inside = k < columns
    v = tl.load(x + row * columns + k, mask=inside, other=LARGEST)
    if v.dtype.primitive_bitwidth < 32:
        v = v.to(tl.float32)
    nan = v != v
    smallest = tl.min(tl.where(nan, LARGEST, v), axis=0)
    hit = v == smallest
    index = tl.min(tl.where(hit & inside, k, columns), axis=0)
    tl.store(indices + row, index.to(tl.int64))
    tl.store(values + row, tl.load(x + row * columns + index))


def min(input_tensor, dim, keepdim=False):
    rows = input_tensor.movedim(dim, -1).contiguous()
    columns = rows.shape[-1]
    values = torch.empty(rows.shape[:-1], dtype=rows.dtype, device=rows.device)
    indices = torch.empty(rows.shape[:-1], dtype=torch.int64, device=rows.device)
    largest = float("inf") if rows.dtype.is_floating_point else torch.iinfo(rows.dtype).max
    block = triton.next_power_of_2(columns)
    min_rows[(values.numel(),)](rows, values, indices, columns, LARGEST=largest, BLOCK=block, num_warps=4 if block <= 2048 else 8)
    return (values.unsqueeze(dim), indices.unsqueeze(dim)) if keepdim else (values, indices)
