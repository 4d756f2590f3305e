"""The entry is an object with `__call__`, made once by a class that holds the block size.

Temptation: no function of that name, but a callable object
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=mask)


class Silu:
    def __init__(self, block):
        self.block = block

    def grid(self, n):
        return (triton.cdiv(n, self.block),)

    def __call__(self, input, inplace=False):
        x = input.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        if n:
            silu_kernel[self.grid(n)](x, out, n, BLOCK=self.block, num_warps=8)
        return out


silu = Silu(2048)
