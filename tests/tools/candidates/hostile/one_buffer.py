"""Right when it returns, in a buffer that the next call of that shape writes over.

Row: 9 (the output is memory that is not the caller's own).
Expected: aliasing at adversarial.
Task: quick/gelu.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def points(x, y, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    if TANH:
        v = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    else:
        v = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(y + offsets, v.to(y.dtype.element_ty), mask=offsets < n)


buffers = {}


def gelu(input, approximate="none"):
    x = input.contiguous()
    key = (x.shape, x.dtype)
    if key not in buffers:
        buffers[key] = torch.empty_like(x)
    if x.numel():
        points[(triton.cdiv(x.numel(), 1024),)](x, buffers[key], x.numel(), TANH=approximate == "tanh", BLOCK=1024)
    return buffers[key]
