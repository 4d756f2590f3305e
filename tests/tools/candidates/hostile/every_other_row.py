"""Once it has seen a shape a few times, computes every other row and leaves the rest as the last call had them.

Row: 37 (faster than the memory can be read, and nobody asks how).
Needs: GPU.
Expected on a GPU: wrong_numeric or nonfinite or below_floor at adversarial or timing.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, columns, step, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * step
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * columns + offsets, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=mask)


times, last = {}, {}


def softmax(input, dim, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    key = (x.shape, x.dtype)
    times[key] = times.get(key, 0) + 1
    step = 2 if times[key] > 8 and x.numel() > 1 << 14 else 1
    y = last.pop(key) if step == 2 else torch.empty_like(x)
    if x.numel():
        count = triton.cdiv(x.numel() // x.shape[-1], step)
        rows[(count,)](x, y, x.shape[-1], step, BLOCK=triton.next_power_of_2(x.shape[-1]))
    last[key] = y
    return y.movedim(-1, dim)
