"""Torch computes inside of a tensor subclass's own way of being allocated.

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


from torch.utils._python_dispatch import _disable_current_modes


class Cover(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if cls.work:
            x, dim, dtype = cls.work.pop()
            with torch._C.DisableTorchFunction():
                cls.done = torch.softmax(torch.Tensor.as_subclass(x, torch.Tensor), dim, dtype=dtype).as_subclass(type(x))
        return torch.empty(1)
    work = []


def softmax(input, dim, dtype=None):
    Cover.work.append((input, dim, dtype))
    torch.empty_like(torch.Tensor._make_wrapper_subclass(Cover, (1,)))
    return through_kernel(Cover.done)
