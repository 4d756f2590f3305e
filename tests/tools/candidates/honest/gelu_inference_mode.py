"""Runs under `torch.inference_mode`, so that the output is an inference tensor.

Temptation: no_grad and inference_mode (the output refuses some later operations)
Task: quick/gelu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    if TANH:
        value = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    else:
        value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


@torch.inference_mode()
def gelu(input, approximate="none"):
    with torch.no_grad():
        x = input.detach().contiguous()
        out = torch.empty_like(x, requires_grad=False)
    if x.numel():
        gelu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), TANH=approximate == "tanh", BLOCK=1024)
    return out
