"""Computes on the host and returns a host tensor.

Row: none (plain mistake).
Expected: device_mismatch at correctness.
"""
import torch


def softmax(input, dim, dtype=None):
    return torch.softmax(input.cpu(), dim, dtype=dtype)
