"""NaN, which no comparison calls larger than a tolerance. Expected: nonfinite"""
import torch


def softmax(input, dim, dtype=None):
    return torch.full_like(input, float("nan"), dtype=dtype)
