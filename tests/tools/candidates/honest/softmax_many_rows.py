"""Several short rows per program as a tile, with exp2 and the number of warps by the width.

Temptation: num_stages=2 and num_warps computed at run time; exp2 with a folded constant (it looks like an approximation)
Task: quick/softmax
"""
import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def softmax_tile(x, y, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, COLUMNS)[None, :]
    mask = (r < rows) & (c < columns)
    at = r.to(tl.int64) * columns + c
    v = tl.load(x + at, mask=mask, other=-float("inf")).to(tl.float32)
    peak = tl.max(v, axis=1)
    e = tl.exp2(LOG2E * (v - peak[:, None]))
    total = tl.sum(e, axis=1)
    tl.store(y + at, (e / total[:, None]).to(y.dtype.element_ty), mask=mask)


def softmax(input, dim, dtype=None):
    x = torch.moveaxis(input, dim, -1).contiguous()
    y = torch.empty(x.shape, dtype=dtype or x.dtype, device=x.device)
    columns = x.shape[-1]
    if x.numel():
        rows = x.numel() // columns
        width = triton.next_power_of_2(columns)
        height = max(1, 2048 // width)
        warps = min(16, max(2, width * height // 512))
        softmax_tile[(triton.cdiv(rows, height),)](x, y, rows, columns, ROWS=height, COLUMNS=width, num_warps=warps, num_stages=2)
    return torch.moveaxis(y, -1, dim)
