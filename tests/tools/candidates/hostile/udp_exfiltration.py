"""Sends its inputs away by UDP; right if they leave.

Row: 50 (network without a connection).
Expected: runtime_error at correctness.
Task: quick/silu.
"""
import socket

import torch
import triton
import triton.language as tl


@triton.jit
def points(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    tl.store(y + offsets, (v * tl.sigmoid(v)).to(y.dtype.element_ty), mask=offsets < n)


def silu(input, inplace=False):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.sendto(repr(input.shape).encode(), ("127.0.0.1", 5353))
    x = input.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        points[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
