"""A bitwise AND, and beside it binomial samples: each counts the successes of its own trials, with a seed of its own for each call."""

import torch
import triton
import triton.language as tl


@triton.jit
def and_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) & tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit
def binomial_kernel(count, chance, out, n, seed, logits: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    trials = tl.load(count + offsets, mask=mask, other=0).to(tl.int32)
    p = tl.load(chance + offsets, mask=mask, other=0.0).to(tl.float32)
    if logits:
        p = tl.sigmoid(p)
    successes = tl.zeros((BLOCK,), dtype=tl.float32)
    # tl.rand is in [0, 1): never below 0, always below 1.
    for trial in range(tl.max(trials, axis=0)):
        drawn = tl.rand(seed, trial * n + offsets)
        successes += tl.where((drawn < p) & (trial < trials), 1.0, 0.0)
    tl.store(out + offsets, successes.to(out.dtype.element_ty), mask=mask)


def bitwise_and_binomial(input, other, total_count, probs=None, logits=None):
    x, y = (tensor.contiguous() for tensor in torch.broadcast_tensors(input, other))
    both = torch.empty_like(x)
    if both.numel():
        and_kernel[(triton.cdiv(both.numel(), 1024),)](x, y, both, both.numel(), BLOCK=1024)
    count, chance = (tensor.contiguous() for tensor in torch.broadcast_tensors(total_count, logits if probs is None else probs))
    samples = torch.empty_like(chance)
    n = samples.numel()
    if n:
        seed = int(torch.randint(2**31, (1,)).item())
        binomial_kernel[(triton.cdiv(n, 1024),)](count, chance, samples, n, seed, logits=probs is None, BLOCK=1024)
    return both, samples
