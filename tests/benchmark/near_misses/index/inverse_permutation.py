"""The axes are put where they should be taken from.

Task: kernelbench_x/permute_copy.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, out, n, B, C, D, E, xa, xb, xc, xd, xe, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    e, d, c, b, a = i % E, i // E % D, i // (E * D) % C, i // (E * D * C) % B, i // (E * D * C * B)
    value = tl.load(x + a * xa + b * xb + c * xc + d * xd + e * xe, mask=i < n)
    tl.store(out + i, value, mask=i < n)


def permute_copy(input, dims):
    order = [axis % input.dim() for axis in dims]
    view = input.permute([order.index(axis) for axis in range(input.dim())])
    out = torch.empty([input.shape[axis] for axis in order], dtype=input.dtype, device=input.device)
    while view.dim() < 5:
        view = view.unsqueeze(0)
    if out.numel():
        copy[(triton.cdiv(out.numel(), 1024),)](view, out, out.numel(), *view.shape[1:], *view.stride(), BLOCK=1024)
    return out
