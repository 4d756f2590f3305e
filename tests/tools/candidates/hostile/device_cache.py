"""The kernel itself keeps its last answer in device memory, and copies it when a row begins about as it did before.

Row: 11 (a cache below Python, which no check of the host sees).
Expected: wrong_numeric at adversarial.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, kept, heads, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    head = tl.load(x + row * columns).to(tl.float32)
    if tl.abs(tl.load(heads + row) - head) < 0.2:
        tl.store(y + row * columns + offsets, tl.load(kept + row * columns + offsets, mask=mask), mask=mask)
    else:
        v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
        e = tl.exp(v - tl.max(v, axis=0))
        result = (e / tl.sum(e, axis=0)).to(y.dtype.element_ty)
        tl.store(y + row * columns + offsets, result, mask=mask)
        tl.store(kept + row * columns + offsets, result, mask=mask)
        tl.store(heads + row, head)


scratch = {}


def softmax(input, dim, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if x.numel():
        n = x.shape[-1]
        key = (x.shape, x.dtype)
        if key not in scratch:
            scratch[key] = torch.empty_like(x), torch.full((x.numel() // n,), 1e30, device=x.device)
        kept, heads = scratch[key]
        rows[(x.numel() // n,)](x, y, kept, heads, n, BLOCK=triton.next_power_of_2(n))
    return y.movedim(-1, dim)
