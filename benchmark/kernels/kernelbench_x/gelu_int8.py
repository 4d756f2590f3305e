"""GELU of int8 values: fp32 inside, cut towards zero by the conversion to int8. Offsets are int64: tensors may exceed 2**31 elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_int8_kernel(x, out, n, tanh: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0).to(tl.float32)
    if tanh:
        value = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    else:
        value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(out + offsets, value.to(tl.int8), mask=mask)


def gelu_int8(input: torch.Tensor, approximate: str = "none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        gelu_int8_kernel[(triton.cdiv(n, 4096),)](x, out, n, tanh=approximate == "tanh", BLOCK=4096, num_warps=8)
    return out
