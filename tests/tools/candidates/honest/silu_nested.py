"""A factory defines the kernel inside a function and returns the wrapper, a closure over it.

Temptation: nested functions (the kernel is at no module level, the entry is made by another function)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


def make(block):
    @triton.jit
    def weight(v):
        return 1.0 / (1.0 + tl.exp(-v))

    @triton.jit
    def kernel(x, out, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        v = tl.load(x + offsets, mask=mask).to(tl.float32)
        tl.store(out + offsets, (v * weight(v)).to(out.dtype.element_ty), mask=mask)

    def wrapper(input, inplace=False):
        x = input.contiguous()
        out = torch.empty_like(x)

        def grid(meta):
            return (triton.cdiv(out.numel(), meta["BLOCK"]),)

        if out.numel():
            kernel[grid](x, out, out.numel(), BLOCK=block)
        return out

    return wrapper


silu = make(1024)
