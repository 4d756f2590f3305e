"""Launches on a stream of its own that nobody waits for, behind work that keeps it busy.

Row: 15 (another stream finishes the job).
Needs: GPU.
Expected on a GPU: nonfinite or wrong_numeric or suspected_hack at correctness or adversarial or timing.
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


@triton.jit
def delay(x, rounds):
    value = tl.load(x)
    for _ in range(rounds):
        value = value * 1.0001 + 0.1
    tl.store(x, value)


side = torch.cuda.Stream()
busy = torch.zeros(1, device="cuda")


def softmax(input, dim, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if x.numel():
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            delay[(1,)](busy, 200_000)
            rows[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
    return y.movedim(-1, dim)
