"""A times a number."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def pointwise(x, y, s, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(y + at, v * s, mask=at < n)


class ModelNew(nn.Module):
    def forward(self, x, s):
        x = x.contiguous()
        y = torch.empty_like(x)
        pointwise[(triton.cdiv(x.numel(), 1024),)](x, y, s, x.numel(), BLOCK=1024)
        return y
