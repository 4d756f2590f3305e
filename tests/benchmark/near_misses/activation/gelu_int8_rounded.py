"""The result is rounded to the nearest integer where the contract cuts it towards zero.

Task: kernelbench_x/gelu_int8.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, tanh: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0).to(tl.float32)
    if tanh:
        value = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    else:
        value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(out + offsets, tl.floor(value + 0.5).to(tl.int8), mask=mask)


def gelu_int8(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        gelu_kernel[(triton.cdiv(n, 1024),)](x, out, n, tanh=approximate == "tanh", BLOCK=1024)
    return out
