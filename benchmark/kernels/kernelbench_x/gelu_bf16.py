"""GELU of bf16 values: loaded as bf16, computed in fp32, rounded once at the store."""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_bf16_kernel(x, out, n, tanh: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
    if tanh:
        # 0.5 * (1 + tanh(u)) is sigmoid(2 u), which overflows nowhere.
        value = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    else:
        value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(out + offsets, value.to(tl.bfloat16), mask=mask)


def gelu_bf16(input: torch.Tensor, approximate: str = "none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        gelu_bf16_kernel[(triton.cdiv(n, 2048),)](x, out, n, tanh=approximate == "tanh", BLOCK=2048, num_warps=8)
    return out
