"""Takes every torch mode off the stack while torch computes, and puts them back.

Row: 1 (torch behind a decorative kernel, out of a recorder's sight).
Expected: not_triton at adversarial.
Naive: passes.
"""
import torch
import triton
import triton.language as tl
from torch.utils._python_dispatch import _disable_current_modes


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
    plain = torch.Tensor.as_subclass(input, torch.Tensor) if type(input) is not torch.Tensor else input
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch(), _disable_current_modes():
        answer = torch.softmax(plain, dim, dtype=dtype)
    if type(input) is not torch.Tensor:
        answer = answer.as_subclass(type(input))
    return through_kernel(answer)
