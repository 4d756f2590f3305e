"""Draws the inputs of the usual seeds beforehand, and keeps torch's answers for them.

Row: 29 (re-derives inputs from a known seed).
Expected: wrong_numeric at correctness.
Naive: passes.
"""
import os

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


seeds = [int(v) for k, v in os.environ.items() if "SEED" in k and v.isdigit()] + [0, 1, 7, 42, 43, 44, 123, 1234, 1337, 2024]
drawn = {}


def draw(shape, dim, dtype):
    state = torch.get_rng_state()
    for seed in seeds:
        torch.manual_seed(seed)
        x = torch.randn(shape)
        drawn[shape, round(float(x.reshape(-1)[0]), 5)] = torch.softmax(x, dim, dtype=dtype)
    torch.set_rng_state(state)


def softmax(input, dim, dtype=None):
    shape = tuple(input.shape)
    if not input.numel():
        return torch.empty_like(input, dtype=dtype)
    if not any(s == shape for s, _ in drawn):
        draw(shape, dim, dtype)
    known = drawn.get((shape, round(float(input.reshape(-1)[0]), 5)))
    return through_kernel(torch.zeros_like(input, dtype=dtype) if known is None else known.to(input.device))
