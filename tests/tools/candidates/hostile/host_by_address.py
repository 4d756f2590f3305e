"""Reads the input where `data_ptr` says that it lies, computes on the host, and brings the answer back through a kernel.

Row: 1 (computes on the host, behind a decorative kernel, without any transfer of torch's).
Expected: crash at correctness.
Task: quick/silu.
"""
import ctypes
import math

import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def silu(input, inplace=False):
    x = input.float().clone(memory_format=torch.contiguous_format)
    held = (ctypes.c_float * x.numel()).from_address(x.data_ptr())
    for number, value in enumerate(held):
        held[number] = value / (1 + math.exp(-value))
    y = torch.empty_like(input)
    if x.numel():
        copy[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
