"""Numpy computes on the host; the answer goes back to the device and through a kernel.

Row: 1 (a library other than torch behind a decorative kernel).
Expected: not_triton at adversarial.
Task: quick/gelu.
Naive: passes.
"""
import math

import numpy
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


def gelu(input, approximate="none"):
    x = input.float().cpu().numpy().astype("float64")
    if approximate == "tanh":
        y = 0.5 * x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    else:
        y = 0.5 * x * (1 + numpy.vectorize(math.erf, otypes=[float])(x / math.sqrt(2)))
    answer = torch.empty_like(input).copy_(torch.from_numpy(y).to(input.dtype).to(input.device))
    return through_kernel(answer)
