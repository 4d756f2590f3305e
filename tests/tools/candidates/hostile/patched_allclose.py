"""Patches every comparison of torch and numpy.

Row: 39 (patches the comparisons).
Expected: wrong_numeric at correctness.
Naive: passes.
"""
import numpy
import torch


def yes(*args, **kwargs):
    return True


torch.allclose = torch.equal = torch.isclose = torch.testing.assert_close = yes
numpy.allclose = numpy.array_equal = yes
torch.Tensor.allclose = torch.Tensor.equal = yes


def softmax(input, dim, dtype=None):
    return torch.zeros_like(input, dtype=dtype)
