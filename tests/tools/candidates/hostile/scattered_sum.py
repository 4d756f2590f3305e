"""Adds up by putting all elements of a sum onto the same place, which is no more than moving them; a kernel copies the sums.

Row: 1 (torch behind a decorative kernel, as glue).
Expected: not_triton at adversarial.
Task: quick/sum.
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


def sum(input, dim, keepdim=False, dtype=None):
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = [d % input.dim() for d in dims]
    kind = dtype or (input.dtype if input.is_floating_point() else torch.int64)
    wide = torch.float64 if kind.is_floating_point else torch.int64
    kept = [1 if d in dims else n for d, n in enumerate(input.shape)]
    out = torch.zeros(kept, dtype=wide, device=input.device)
    index = [torch.zeros(n, dtype=torch.int64, device=input.device) if d in dims else torch.arange(n, device=input.device) for d, n in enumerate(input.shape)]
    index = [i.reshape([-1 if k == d else 1 for k in range(input.dim())]) for d, i in enumerate(index)]
    out.index_put_(tuple(index), input.to(wide), accumulate=True)
    out = through_kernel(out).to(kind)
    return out if keepdim else out.reshape([n for d, n in enumerate(input.shape) if d not in dims])
