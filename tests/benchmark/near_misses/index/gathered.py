"""Moves by the index the other way: the element at p comes from where the index points to.

Task: kernelbench_x/scatter.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def put(out, index, src, n, B, C, D, oa, ob, oc, od, ia, ib, ic, id, sa, sb, sc, sd, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    a, b, c, d = i // (B * C * D), i // (C * D) % B, i // D % C, i % D
    at = tl.load(index + a * ia + b * ib + c * ic + d * id, mask=i < n, other=0)
    value = tl.load(src + at % (n // (B * C * D)) * sa + b * sb + c * sc + d * sd, mask=i < n)
    tl.store(out + a * oa + b * ob + c * oc + d * od, value, mask=i < n)


def four_axes(tensor, dim):
    view = tensor.movedim(dim, 0)
    while view.dim() < 4:
        view = view.unsqueeze(-1)
    return view


def scatter(input, dim, index, src):
    out = input.clone(memory_format=torch.contiguous_format)
    o, i, s = four_axes(out, dim), four_axes(index, dim), four_axes(src, dim)
    n = index.numel()
    if n:
        put[(triton.cdiv(n, 1024),)](o, i, s, n, *i.shape[1:], *o.stride(), *i.stride(), *s.stride(), BLOCK=1024)
    return out
