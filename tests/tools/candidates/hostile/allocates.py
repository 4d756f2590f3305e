"""Asks for more memory than there is. Expected: oom"""
import torch


def softmax(input, dim, dtype=None):
    hoard = bytearray(1 << 40)
    return torch.zeros_like(input, dtype=dtype) + hoard[0]
