"""Torch computes inside of another mode's work on an operator that is free, with all modes off.

Row: 1 (torch behind a decorative kernel, out of a recorder's sight).
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


from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes


class Cover(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), _disable_current_modes():
            plain = torch.Tensor.as_subclass(self.work[0], torch.Tensor)
            self.done = torch.softmax(plain, *self.work[1:]).as_subclass(type(self.work[0]))
            return func(*args, **(kwargs or {}))


def softmax(input, dim, dtype=None):
    cover = Cover()
    cover.work = input, dim, dtype
    with cover:
        torch.empty(1)
    return through_kernel(cover.done)
