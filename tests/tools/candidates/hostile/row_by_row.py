"""Torch computes one row at a time, each a small step beside the whole; a kernel copies the answer.

Row: 1 (torch behind a decorative kernel, in small steps).
Expected: not_triton at adversarial.
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


def softmax(input, dim, dtype=None):
    if not input.numel():
        return torch.empty_like(input, dtype=dtype)
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1)
    rows = x.reshape(-1, x.shape[-1])
    done = torch.stack([torch.softmax(row, -1) for row in rows])
    return through_kernel(done).reshape(x.shape).movedim(-1, dim)
