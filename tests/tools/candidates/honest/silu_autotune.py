"""Block size, warps and stages by `triton.autotune`, keyed by the length.

Temptation: autotune (the tuner runs the kernel many times before the answer counts)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 256}, num_warps=2),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 2048}, num_warps=8, num_stages=1),
    ],
    key=["n"],
)
@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    tl.store(out + offsets, (v / (1.0 + tl.exp(-v))).to(out.dtype.element_ty), mask=mask)


def silu(input, inplace=False):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        silu_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n)
    return out
