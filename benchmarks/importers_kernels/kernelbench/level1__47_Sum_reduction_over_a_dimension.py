"""The sum over the middle axis, in several sums at a time."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def middle(x, y, rows, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    batch = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    row = tl.arange(0, ROWS)[:, None]
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for first in range(0, rows, ROWS):
        mask = (first + row < rows) & (at < columns)
        total += tl.load(x + (batch * rows + first + row) * columns + at, mask=mask, other=0.0)
    tl.store(
        y + batch * columns + tl.program_id(1) * BLOCK + tl.arange(0, BLOCK),
        tl.sum(total, axis=0),
        mask=tl.program_id(1) * BLOCK + tl.arange(0, BLOCK) < columns,
    )


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        x = x.movedim(self.dim, 1).contiguous()
        batch, rows, columns = x.shape
        y = torch.empty((batch, 1, columns), dtype=x.dtype, device=x.device)
        middle[(batch, triton.cdiv(columns, 64))](x, y, rows, columns, ROWS=32, BLOCK=64)
        return y.movedim(1, self.dim)
