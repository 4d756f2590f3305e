"""Tensor descriptors whose blocks each configuration sets in its `pre_hook`, as in Triton's own tutorials.

Temptation: host code that autotuning runs before each launch, without which the kernel does not compile
Task: quick/silu
"""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

COLUMNS = 256


def shape_blocks(named):
    for name in ("source", "target"):
        named[name].block_shape = [named["ROWS"], COLUMNS]


@triton.autotune(configs=[triton.Config({"ROWS": rows}, num_warps=4, pre_hook=shape_blocks) for rows in (2, 4, 8)], key=["rows"])
@triton.jit
def silu_rows(source, target, rows, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS
    acc = tl.zeros([ROWS, WIDTH], tl.float32)
    v = acc + source.load([row, 0]).to(tl.float32)
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
        source, target = (TensorDescriptor.from_tensor(t, [1, COLUMNS]) for t in whole)
        silu_rows[lambda meta: (triton.cdiv(rows, meta["ROWS"]),)](source, target, rows, WIDTH=COLUMNS)
    if n > rows * COLUMNS:
        silu_rest[(1,)](x, out, rows * COLUMNS, n, BLOCK=COLUMNS)
    return out
