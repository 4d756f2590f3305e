"""The steps of GELU are taken in bf16 where the contract computes in fp32 and rounds once.

Task: kernelbench_x/gelu_bf16.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, tanh: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0)
    if tanh:
        inner = (0.7978845608028654 * (v + 0.044715 * v * v * v)).to(tl.bfloat16)
        factor = (2.0 * tl.sigmoid(2.0 * inner.to(tl.float32)) - 1.0).to(tl.bfloat16)
    else:
        factor = tl.erf(v.to(tl.float32) * 0.7071067811865476).to(tl.bfloat16)
    tl.store(out + offsets, (0.5 * v * (1.0 + factor)).to(tl.bfloat16), mask=mask)


def gelu_bf16(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        gelu_kernel[(triton.cdiv(n, 1024),)](x, out, n, tanh=approximate == "tanh", BLOCK=1024)
    return out
