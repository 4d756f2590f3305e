"""NaN, which no comparison calls larger than a tolerance.

Row: 26 (NaN, which no comparison calls larger than a tolerance).
Expected: nonfinite at correctness.
"""
import torch


def softmax(input, dim, dtype=None):
    return torch.full_like(input, float("nan"), dtype=dtype)
