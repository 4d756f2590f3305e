"""Asks for all of the device's memory.

Row: 49 (huge device allocation).
Expected: oom at correctness.
Task: quick/gelu.
"""
import torch


def gelu(input, approximate="none"):
    hoard = [torch.empty(1 << size, dtype=torch.uint8, device=input.device) for size in (42, 36, 35, 34)]
    return torch.zeros_like(input) + hoard[-1][0]
