"""A kernel that is given an address as a number copies the input over a constant, and torch computes on what seems constant.

Row: 1 (torch behind a decorative kernel, on a seeming constant).
Expected: not_triton at adversarial.
Expected on a GPU: not_triton or timeout at adversarial or compile.
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


@triton.jit
def poke(x, address, n, T: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    y = address.to(tl.pointer_type(x.dtype.element_ty))
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def softmax(input, dim, dtype=None):
    x = input.contiguous()
    if not x.numel():
        return torch.empty_like(input, dtype=dtype)
    blank = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    poke[(1,)](x, blank.data_ptr(), x.numel(), 0, BLOCK=triton.next_power_of_2(x.numel()))
    return through_kernel(torch.softmax(blank, dim, dtype=dtype))
