"""A kernel whose host code has a try block, which is no fallback.

Temptation: a `try` in host code, the word stream in a comment
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    # One stream of elements.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=mask)


def kernel_function(input, inplace=False):
    try:
        x = input.contiguous()
        out = torch.empty_like(x)
    except RuntimeError as error:
        raise ValueError("no memory") from error
    n = x.numel()
    if n:
        silu_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out
