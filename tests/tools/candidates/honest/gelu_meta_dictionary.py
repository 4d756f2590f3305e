"""All constants and launch options come from one dictionary by `**`.

Temptation: constexpr dictionary with num_stages=2 (an LLM judge took two stages for a trick)
Task: quick/gelu
"""
import torch
import triton
import triton.language as tl

META = {"BLOCK": 512, "num_warps": 4, "num_stages": 2}


@triton.jit
def gelu_kernel(x, out, n, TANH: tl.constexpr, CHUNKS: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * CHUNKS * BLOCK
    for chunk in tl.range(0, CHUNKS, num_stages=2):
        offsets = first + chunk * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
        if TANH:
            value = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
        else:
            value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
        tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def gelu(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    options = dict(META, TANH=(approximate == "tanh"), CHUNKS=4)
    if n:
        gelu_kernel[(triton.cdiv(n, 4 * META["BLOCK"]),)](x, out, n, **options)
    return out
