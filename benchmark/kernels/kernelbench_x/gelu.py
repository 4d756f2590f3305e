"""GELU in both forms, computed in fp32. The tanh form is x * sigmoid(2 u), since 1 + tanh(u) = 2 sigmoid(2 u)."""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, tanh: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    if tanh:
        inner = 0.7978845608028654 * (v + 0.044715 * v * v * v)
        value = v * tl.sigmoid(2.0 * inner)
    else:
        value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def gelu(input: torch.Tensor, approximate: str = "none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        gelu_kernel[(triton.cdiv(n, 1024),)](x, out, n, tanh=approximate == "tanh", BLOCK=1024)
    return out
