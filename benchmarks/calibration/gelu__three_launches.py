"""The inner function and the distribution function go through memory in fp32."""

import torch
import triton
import triton.language as tl


@triton.jit
def inner(x, u, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    if TANH:
        value = 1.5957691216057308 * (v + 0.044715 * v * v * v)
    else:
        value = v * 0.7071067811865476
    tl.store(u + offsets, value, mask=offsets < n)


@triton.jit
def distribution(u, p, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(u + offsets, mask=offsets < n)
    if TANH:
        value = tl.sigmoid(v)
    else:
        value = 0.5 * (1.0 + tl.erf(v))
    tl.store(p + offsets, value, mask=offsets < n)


@triton.jit
def product(x, p, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n).to(tl.float32) * tl.load(p + offsets, mask=offsets < n)
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=offsets < n)


def gelu(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n, tanh = x.numel(), approximate == "tanh"
    if n:
        u = torch.empty(n, dtype=torch.float32, device=x.device)
        p = torch.empty_like(u)
        grid = (triton.cdiv(n, 1024),)
        inner[grid](x, u, n, TANH=tanh, BLOCK=1024)
        distribution[grid](u, p, n, TANH=tanh, BLOCK=1024)
        product[grid](x, p, out, n, BLOCK=1024)
    return out
