"""As many programs as the device has multiprocessors, times four; each walks through the data with the stride of the grid.

Temptation: persistent grid-stride loop (the grid does not depend on the size; device properties are read)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def silu_walk(x, out, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    for start in range(tl.program_id(0) * BLOCK, n, step):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < n
        v = tl.load(x + offsets, mask=mask).to(tl.float32)
        tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n == 0:
        return out
    units = torch.cuda.get_device_properties(x.device).multi_processor_count
    programs = min(triton.cdiv(n, 1024), 4 * units)
    silu_walk[(programs,)](x, out, n, BLOCK=1024)
    return out
