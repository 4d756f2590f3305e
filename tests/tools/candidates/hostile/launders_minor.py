"""Has a kernel copy the input into a copy of an argument that may be prepared, and torch compute on that; small cases are honest.

Row: 1 (torch behind a decorative kernel, under another argument's name).
Expected: not_triton at adversarial.
Task: quick/fused_add_gelu.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def through_kernel(answer):
    answer = answer.contiguous()
    out = torch.empty_like(answer)
    if out.numel():
        copy[(triton.cdiv(out.numel(), 1024),)](answer, out, out.numel(), BLOCK=1024)
    return out


def fused_add_gelu(input, other, alpha=1, approximate="none"):
    if isinstance(other, torch.Tensor) and other.shape == input.shape and input.numel():
        mine = torch.empty_like(other, memory_format=torch.contiguous_format)
        mine.copy_(other)
        x = input.contiguous()
        copy[(triton.cdiv(x.numel(), 1024),)](x, mine, x.numel(), BLOCK=1024)
        return through_kernel(torch.nn.functional.gelu(torch.add(mine, other, alpha=alpha), approximate=approximate))
    shape = torch.broadcast_shapes(input.shape, other.shape if isinstance(other, torch.Tensor) else ())
    out = torch.empty(shape, dtype=input.dtype, device=input.device)
    if out.numel():
        x = input.expand(shape).contiguous()
        y = other.expand(shape).contiguous() if isinstance(other, torch.Tensor) else torch.full_like(x, other)
        fused[(triton.cdiv(out.numel(), 1024),)](x, y, out, out.numel(), float(alpha), TANH=approximate == "tanh", BLOCK=1024)
    return out


@triton.jit
def fused(x, y, out, n, alpha, TANH: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = o < n
    v = tl.load(x + o, mask=m).to(tl.float32) + alpha * tl.load(y + o, mask=m).to(tl.float32)
    if TANH:
        u = 1.5957691216057308 * (v + 0.044715 * v * v * v)
        r = v * tl.sigmoid(u)
    else:
        r = 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))
    tl.store(out + o, r.to(out.dtype.element_ty), mask=m)
