"""Returns nothing but zeros. Expected: wrong_numeric"""
import torch


def softmax(input, dim, dtype=None):
    return torch.zeros_like(input, dtype=dtype)
