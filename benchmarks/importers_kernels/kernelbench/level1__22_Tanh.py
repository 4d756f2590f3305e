"""Wrong: tanh by its first three terms, which holds near zero only."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def pointwise(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at, v - v * v * v / 3.0 + 2.0 * v * v * v * v * v / 15.0, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        pointwise[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
        return y
