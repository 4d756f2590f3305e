"""Tensor descriptors made on the host over a view of rows of 256 elements; the rest goes through a second kernel.

Temptation: an object beside tensors and numbers as a kernel's argument
Task: quick/silu
"""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

COLUMNS = 256


@triton.jit
def silu_rows(source, target, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS
    v = source.load([row, 0]).to(tl.float32)
    target.store([row, 0], (v * tl.sigmoid(v)).to(target.dtype))


@triton.jit
def silu_rest(x, out, start, n, BLOCK: tl.constexpr):
    offsets = start + tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=offsets < n)


def silu(input, inplace=False):
    x = input.contiguous()
    if x.data_ptr() % 16:
        x = x.clone()
    out = torch.empty_like(x)
    n = x.numel()
    rows = n // COLUMNS
    if rows:
        whole = [t.view(-1)[: rows * COLUMNS].view(rows, COLUMNS) for t in (x, out)]
        source, target = (TensorDescriptor.from_tensor(t, [4, COLUMNS]) for t in whole)
        silu_rows[(triton.cdiv(rows, 4),)](source, target, ROWS=4)
    if n > rows * COLUMNS:
        silu_rest[(1,)](x, out, rows * COLUMNS, n, BLOCK=COLUMNS)
    return out
