"""A copy is filled and returned; the caller's tensor stays as it was.

Task: kernelbench_x/index_fill_.
Expected: wrong_shape at correctness.
"""

import triton
import triton.language as tl


@triton.jit
def fill(x, index, n, B, C, D, xa, xb, xc, xd, step, value, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(index + i // (B * C * D) * step, mask=i < n, other=0)
    place = x + a * xa + i // (C * D) % B * xb + i // D % C * xc + i % D * xd
    tl.store(place, tl.full((BLOCK,), value, x.dtype.element_ty), mask=i < n)


def index_fill_(dim, x, index, value):
    x = x.clone()
    view = x.movedim(dim, 0)
    while view.dim() < 4:
        view = view.unsqueeze(-1)
    _, B, C, D = view.shape
    n = index.numel() * B * C * D
    if n:
        fill[(triton.cdiv(n, 1024),)](view, index, n, B, C, D, *view.stride(), index.stride(0), value, BLOCK=1024)
    return x
