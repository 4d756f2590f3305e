"""The same seed in each call: every call gives the same numbers, however uniform they are.

Task: kernelbench_x/rand.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl

BITS = {torch.float16: 11, torch.bfloat16: 8, torch.float32: 24, torch.float64: 53}


@triton.jit
def uniform_kernel(out, count, seed, bits: tl.constexpr, block: tl.constexpr):
    offsets = tl.program_id(0) * block + tl.arange(0, block)
    high, low, _, _ = tl.randint4x(seed, offsets)
    high = high.to(tl.uint32, bitcast=True)
    low = low.to(tl.uint32, bitcast=True)
    if bits > 32:
        whole = (high >> 5).to(tl.float64) * 67108864.0 + (low >> 6).to(tl.float64)
        sample = whole * (1.0 / 9007199254740992.0)
    else:
        sample = (high >> (32 - bits)).to(tl.float32) * (1.0 / (1 << bits))
    tl.store(out + offsets, sample.to(out.dtype.element_ty), mask=offsets < count)


def rand(*size, generator=None, out=None, dtype=None, layout=torch.strided, device=None, requires_grad=False, pin_memory=False):
    samples = torch.empty(size, dtype=dtype or torch.float32, device=device)
    count = samples.numel()
    if count:
        uniform_kernel[(triton.cdiv(count, 1024),)](samples, count, 42, bits=BITS[samples.dtype], block=1024)
    return samples
