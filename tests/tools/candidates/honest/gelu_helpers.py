"""The forms of GELU are device functions that a table of constants and a third device function choose between.

Temptation: helper functions under `triton.jit`, one of which returns a tuple
Task: quick/gelu
"""
import torch
import triton
import triton.language as tl

SQRT_HALF: tl.constexpr = tl.constexpr(0.7071067811865476)
SLOPE: tl.constexpr = tl.constexpr(1.5957691216057308)
NONE, TANH = tl.constexpr(0), tl.constexpr(1)


@triton.jit
def cumulative(v):
    return 0.5 * (1.0 + tl.erf(v * SQRT_HALF))


@triton.jit
def logistic(v):
    return 1.0 / (1.0 + tl.exp(-SLOPE * (v + 0.044715 * v * v * v)))


@triton.jit
def gate(v, FORM: tl.constexpr):
    if FORM == TANH:
        return logistic(v)
    else:
        return cumulative(v)


@triton.jit
def place(n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    return offsets, offsets < n


@triton.jit
def gelu_kernel(x, out, n, FORM: tl.constexpr, BLOCK: tl.constexpr):
    offsets, mask = place(n, BLOCK)
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    tl.store(out + offsets, (v * gate(v, FORM)).to(out.dtype.element_ty), mask=mask)


def gelu(input, approximate="none"):
    x = input.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        gelu_kernel[(triton.cdiv(n, 1024),)](x, out, n, FORM={"none": 0, "tanh": 1}[approximate], BLOCK=1024)
    return out
