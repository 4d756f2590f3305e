"""Modern syntax on the host: `match`, the walrus, a generator of axes, a context manager.

Temptation: try / else / finally around the launch, which swallow nothing
Task: quick/sum
"""
import contextlib
import math

import torch
import triton
import triton.language as tl


@triton.jit
def sum_along(x, out, inner, length, INT: tl.constexpr, BLOCK: tl.constexpr):
    outer, i = tl.program_id(1).to(tl.int64), tl.program_id(0)
    k = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.int64 if INT else tl.float32)
    for start in range(0, length, BLOCK):
        at = (outer * length + start + k) * inner + i
        total += tl.load(x + at, mask=start + k < length, other=0).to(total.dtype)
    tl.store(out + outer * inner + i, tl.sum(total, axis=0).to(out.dtype.element_ty))


@contextlib.contextmanager
def on(device):
    try:
        yield torch.cuda.device(device)
    finally:
        pass


def axes_of(dim, count):
    match dim:
        case None:
            yield from range(count)
        case int():
            yield dim % count
        case [*several]:
            yield from (d % count for d in several)


def sum(input, dim, keepdim=False, dtype=None):
    axes = sorted(axes_of(dim, input.dim()))
    result = dtype or (input.dtype if input.dtype.is_floating_point else torch.int64)
    # Neighbouring axes are one axis; others are brought together in front.
    together = axes == list(range(axes[0], axes[-1] + 1))
    x = (input if together else input.movedim(axes, list(range(len(axes))))).contiguous()
    first = axes[0] if together else 0
    outer, length, inner = (math.prod(x.shape[a:b]) for a, b in ((0, first), (first, first + len(axes)), (first + len(axes), None)))
    shape = [1 if d in axes else size for d, size in enumerate(input.shape) if keepdim or d not in axes]
    out = torch.empty(shape, dtype=result, device=x.device)
    with on(x.device):
        try:
            if (count := out.numel()) > 0:
                sum_along[(inner, outer)](x, out, inner, length, INT=not result.is_floating_point, BLOCK=256)
        except RuntimeError:
            raise
        else:
            assert out.numel() == count
        finally:
            del x
    return out
