"""One row that broadcasts to the answer's shape.

Row: 27 (broadcasts to the answer's shape).
Expected: wrong_shape at correctness.
Naive: passes.
"""
import torch


def softmax(input, dim, dtype=None):
    return torch.softmax(input, dim, dtype=dtype)[:1]
