"""A row per program, in registers as a whole.

Temptation: a result that is a transposed copy
Task: quick/softmax
"""
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    values = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * columns + offsets, (values / tl.sum(values, axis=0)).to(y.dtype.element_ty), mask=mask)


def softmax(input, dim, dtype=None):
    x = input if dtype is None else input.to(dtype)
    x = x.movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    columns = x.shape[-1]
    if x.numel():
        rows = x.numel() // columns
        softmax_rows[(rows,)](x, y, rows, columns, BLOCK=triton.next_power_of_2(columns))
    return y.movedim(-1, dim).contiguous()
