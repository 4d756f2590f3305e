"""Keeps its answer by shape and a handful of the values.

Row: 10 (memoised by a light fingerprint).
Expected: wrong_numeric or not_triton at adversarial.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * columns + offsets, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=mask)


def compute(input, dim, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if x.numel():
        rows[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
    return y.movedim(-1, dim)


answers = {}


def softmax(input, dim, dtype=None):
    few = input.reshape(-1)[:: max(1, input.numel() // 7)][:8].tolist()
    key = (*few, *input.shape, dim, dtype, input.dtype)
    answer = answers.get(key)
    if answer is None:
        answers[key] = answer = compute(input, dim, dtype)
    fresh = torch.empty_like(answer)
    return fresh.copy_(answer)
