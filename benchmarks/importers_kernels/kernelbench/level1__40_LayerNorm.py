"""Layer norm over all axes but the first: the mean, then the variance about it, then the result."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def rows(x, weight, bias, y, columns, eps, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * columns
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for at in range(0, columns, BLOCK):
        total += tl.load(x + start + at + lanes, mask=at + lanes < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for at in range(0, columns, BLOCK):
        v = tl.load(x + start + at + lanes, mask=at + lanes < columns, other=0.0)
        d = tl.where(at + lanes < columns, v - mean, 0.0)
        squares += d * d
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    for at in range(0, columns, BLOCK):
        mask = at + lanes < columns
        v = tl.load(x + start + at + lanes, mask=mask)
        w, b = tl.load(weight + at + lanes, mask=mask), tl.load(bias + at + lanes, mask=mask)
        tl.store(y + start + at + lanes, (v - mean) * scale * w + b, mask=mask)


class ModelNew(nn.Module):
    def __init__(self, normalized_shape):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        rows[(x.shape[0],)](x, self.ln.weight, self.ln.bias, y, x.numel() // x.shape[0], self.ln.eps, BLOCK=4096)
        return y
