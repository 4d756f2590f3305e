"""The blocks are spread over a grid of three axes.

Temptation: three-dimensional grid (program ids of all axes; some programs have nothing to do)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    block = (tl.program_id(2) * tl.num_programs(1) + tl.program_id(1)) * tl.num_programs(0) + tl.program_id(0)
    offsets = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        blocks = triton.cdiv(n, 1024)
        y = min(8, blocks)
        z = 2
        silu_kernel[(triton.cdiv(blocks, y * z), y, z)](x, out, n, BLOCK=1024)
    return out
