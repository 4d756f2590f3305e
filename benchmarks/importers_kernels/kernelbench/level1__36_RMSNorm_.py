"""Division by the root of the mean square over the second axis."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def normalise(x, y, features, inner, eps, FEATURES: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * features * inner
    feature = tl.arange(0, FEATURES)[:, None]
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (feature < features) & (at < inner)
    places = start + feature.to(tl.int64) * inner + at
    v = tl.load(x + places, mask=mask, other=0.0)
    mean = tl.sum(v * v, axis=0) / features
    tl.store(y + places, v / tl.sqrt(mean + eps)[None, :], mask=mask)


class ModelNew(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        x = x.contiguous()
        y = torch.empty_like(x)
        batch, features = x.shape[:2]
        inner = x.numel() // (batch * features)
        normalise[(batch, triton.cdiv(inner, 64))](x, y, features, inner, self.eps, FEATURES=triton.next_power_of_2(features), BLOCK=64)
        return y
