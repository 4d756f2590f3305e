"""Torch computes in a profiling hook of Python's, at a moment when the simulated device itself is at work in this process.

Row: 1 (torch behind a decorative kernel, out of a recorder's sight).
Expected: not_triton at adversarial.
Needs: simulated device.
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


import sys
work = {}


def hook(frame, event, arg):
    if "in" in work and frame.f_code.co_name == "interpret" or frame.f_code.co_name == "begin_launch":
        if "in" in work:
            input, dim, dtype = work.pop("in")
            plain = torch.Tensor.as_subclass(input, torch.Tensor)
            work["out"] = torch.softmax(plain, dim, dtype=dtype).as_subclass(type(input))


def softmax(input, dim, dtype=None):
    x = torch.empty(8, device=input.device)
    y = torch.empty(8, device=input.device)
    work["in"] = input, dim, dtype
    sys.setprofile(hook)
    copy[(1,)](x, y, 8, BLOCK=1024)
    sys.setprofile(None)
    return through_kernel(work.pop("out")) if "out" in work else torch.empty_like(input, dtype=dtype)
