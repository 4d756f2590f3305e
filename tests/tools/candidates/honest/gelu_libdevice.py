"""erf and tanh from the device library.

Temptation: libdevice by its long path, functions whose names torch has too (`erf`, `tanh`)
Task: quick/gelu
"""
import torch
import triton
import triton.language as tl
import triton.language.extra.libdevice as device_math


@triton.jit
def exact(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    value = v * 0.5 * (1.0 + device_math.erf(v * 0.7071067811865476))
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=offsets < n)


@triton.jit
def approximated(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n, other=0.0).to(tl.float32)
    inner = 0.7978845608028654 * device_math.fma(0.044715 * v * v, v, v)
    value = v * 0.5 * (1.0 + device_math.tanh(inner))
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=offsets < n)


def gelu(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        kernel = approximated if approximate == "tanh" else exact
        kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out
