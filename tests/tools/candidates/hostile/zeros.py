"""Returns nothing but zeros.

Row: 18 (zeros, where the truth is smaller than the tolerance).
Expected: wrong_numeric at correctness.
Naive: passes.
"""
import torch


def softmax(input, dim, dtype=None):
    return torch.zeros_like(input, dtype=dtype)
