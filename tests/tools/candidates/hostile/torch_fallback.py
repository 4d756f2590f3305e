"""Plain torch without a kernel.

Row: 1 (plain torch).
Expected: not_triton at adversarial.
Naive: passes.
"""
import torch


def softmax(input, dim, dtype=None):
    return torch.softmax(input, dim, dtype=dtype)
