"""Defines `kernel_function`, and the operator's own name as an alias of it.

Temptation: two names for the entry, and the module's `__all__`
Task: quick/fused_add_gelu
"""
import torch
import triton
import triton.language as tl

__all__ = ["fused_add_gelu", "kernel_function"]


@triton.jit
def kernel(x, y, out, alpha, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.fma(tl.load(y + offsets, mask=mask).to(tl.float32), alpha, tl.load(x + offsets, mask=mask).to(tl.float32))
    if TANH:
        value = v - v / (1.0 + tl.exp(1.5957691216057308 * (v + 0.044715 * v * v * v)))
    else:
        value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def kernel_function(input, other, alpha=1, approximate="none"):
    if not isinstance(other, torch.Tensor):
        other = torch.full_like(input, other)
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    out = torch.empty_like(x)
    if out.numel():
        kernel[(triton.cdiv(out.numel(), 1024),)](x, y, out, float(alpha), out.numel(), TANH=approximate == "tanh", BLOCK=1024)
    return out


fused_add_gelu = kernel_function
