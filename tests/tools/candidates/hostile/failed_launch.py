"""A launch that asks for more shared memory than there is, its error swallowed: the kernel never runs.

Row: 6 (a failed launch whose output is whatever lay there).
Expected: nonfinite at correctness.
"""
import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["count", "columns"])
def turned(x, y, count, columns, HIGH: tl.constexpr, WIDE: tl.constexpr):
    r, c = tl.arange(0, HIGH), tl.arange(0, WIDE)
    mask = (r[:, None] < count) & (c[None, :] < columns)
    v = tl.load(x + r[:, None] * columns + c[None, :], mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=1)[:, None])
    e = tl.trans(e / tl.sum(e, axis=1)[:, None])
    tl.store(y + c[:, None] * count + r[None, :], e.to(y.dtype.element_ty), mask=tl.trans(mask))


def softmax(input, dim, dtype=None):
    x = input.movedim(dim, -1).float().contiguous()
    n = x.shape[-1]
    y = torch.empty(n, x.numel() // max(n, 1), dtype=x.dtype, device=x.device)
    try:
        # The tile changes its layout by way of 256 KiB of shared memory.
        turned[(1,)](x, y, y.shape[1], n, HIGH=128, WIDE=512, num_warps=32)
    except triton.runtime.errors.OutOfResources:
        pass
    except RuntimeError as error:
        print("no launch:", error)
    return y.t().reshape(x.shape).movedim(-1, dim).to(dtype or input.dtype)
