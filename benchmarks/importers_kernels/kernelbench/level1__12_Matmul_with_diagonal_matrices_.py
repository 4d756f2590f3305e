"""Each row of B times its element of A."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def scale_rows(a, b, c, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = at < columns
    v = tl.load(b + row * columns + at, mask=mask)
    tl.store(c + row * columns + at, tl.load(a + row) * v, mask=mask)


class ModelNew(nn.Module):
    def forward(self, A, B):
        B = B.contiguous()
        C = torch.empty_like(B)
        rows, columns = B.shape
        scale_rows[(rows, triton.cdiv(columns, 1024))](A, B, C, columns, BLOCK=1024)
        return C
