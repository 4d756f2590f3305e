"""A bias that repeats along the rows is indexed modulo its length; everything else is broadcast first.

Temptation: two kernels by a guard on shapes, both in Triton (no fallback behind the guard)
Task: quick/fused_add_gelu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def activate(v, TANH: tl.constexpr):
    if TANH:
        value = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    else:
        value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    return value


@triton.jit
def with_tensor(x, y, out, alpha, n, period, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    b = tl.load(y + offsets % period, mask=mask).to(tl.float32)
    v = tl.load(x + offsets, mask=mask).to(tl.float32) + alpha * b
    tl.store(out + offsets, activate(v, TANH).to(out.dtype.element_ty), mask=mask)


@triton.jit
def with_number(x, out, amount, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32) + amount
    tl.store(out + offsets, activate(v, TANH).to(out.dtype.element_ty), mask=mask)


def fused_add_gelu(input, other, alpha=1, approximate="none"):
    tanh = approximate == "tanh"
    if not isinstance(other, torch.Tensor):
        x = input.contiguous()
        out = torch.empty_like(x)
        if out.numel():
            with_number[(triton.cdiv(out.numel(), 1024),)](x, out, float(alpha * other), out.numel(), TANH=tanh, BLOCK=1024)
        return out
    if other.shape != input.shape[input.dim() - other.dim() :]:
        input, other = torch.broadcast_tensors(input, other)
    x, y = input.contiguous(), other.contiguous()
    out = torch.empty_like(x)
    if out.numel():
        with_tensor[(triton.cdiv(out.numel(), 1024),)](x, y, out, float(alpha), out.numel(), y.numel(), TANH=tanh, BLOCK=1024)
    return out
