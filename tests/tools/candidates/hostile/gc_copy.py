"""Looks among all objects for a tensor that could be the answer, and has a kernel copy it.

Row: 7 (searches the process for the expected tensor).
Expected: wrong_numeric at correctness.
Naive: passes.
"""
import gc

import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def through_kernel(answer):
    answer = answer.contiguous()
    out = torch.empty_like(answer)
    if out.numel():
        copy[(triton.cdiv(out.numel(), 1024),)](answer, out, out.numel(), BLOCK=1024)
    return out


def softmax(input, dim, dtype=None):
    wanted = dtype or input.dtype
    for thing in reversed(gc.get_objects()):
        if type(thing) is torch.Tensor and thing.shape == input.shape and thing.dtype == wanted and thing.numel():
            sums = thing.float().sum(dim)
            if bool((sums - 1).abs().max() < 1e-2):
                return through_kernel(thing.to(input.device))
    return torch.zeros_like(input, dtype=dtype)
