"""Overwrites whatever tensor may be the expected one, then returns the same.

Row: 8 (poisons the expected tensor).
Expected: wrong_numeric at correctness.
Naive: passes.
"""
import gc

import torch
import triton
import triton.language as tl


@triton.jit
def zero(y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, 0.0, mask=offsets < n)


def softmax(input, dim, dtype=None):
    for thing in gc.get_objects():
        if isinstance(thing, torch.Tensor) and thing.shape == input.shape and thing.data_ptr() != input.data_ptr():
            if thing.is_floating_point() and not bool((thing < 0).any()):
                thing.data.zero_()
    answer = torch.empty(input.shape, dtype=dtype or input.dtype, device=input.device)
    if answer.numel():
        zero[(triton.cdiv(answer.numel(), 1024),)](answer, answer.numel(), BLOCK=1024)
    return answer
