"""Tries out whether launches do anything, and lets torch compute where they do.

Row: 4 (a dead kernel that knows the replay without launches).
Expected: not_triton at adversarial.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def mark(flag):
    tl.store(flag, 1)


def softmax(input, dim, dtype=None):
    flag = torch.zeros(1, dtype=torch.int32, device=input.device)
    mark[(1,)](flag)
    if flag.item() == 1:
        return torch.softmax(input, dim, dtype=dtype)
    return torch.empty_like(input, dtype=dtype)
