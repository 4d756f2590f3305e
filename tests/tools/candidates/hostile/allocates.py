"""Asks for more memory than there is.

Row: 49 (huge host allocation).
Needs: simulated device.
Expected: oom at correctness.
"""
import torch


def softmax(input, dim, dtype=None):
    hoard = bytearray(1 << 40)
    return torch.zeros_like(input, dtype=dtype) + hoard[0]
