"""Torch computes in the function by which a tensor is printed.

Row: 1 (torch behind a decorative kernel, out of a recorder's sight).
Expected: runtime_error at correctness.
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


import torch._tensor_str as printing
work = {}
former = printing._str


def evil(self, **kwargs):
    if "in" in work:
        input, dim, dtype = work.pop("in")
        plain = torch.Tensor.as_subclass(input, torch.Tensor)
        work["out"] = torch.softmax(plain, dim, dtype=dtype).as_subclass(type(input))
        return ""
    return former(self, **kwargs)


printing._str = evil
torch._tensor_str._str = evil


def softmax(input, dim, dtype=None):
    work["in"] = input, dim, dtype
    repr(input)
    return through_kernel(work.pop("out"))
