"""Right, and a thread keeps the device busy whenever it is not the candidate's turn.

Row: 15 (background work, here to slow the baseline down).
Needs: GPU.
Expected on a GPU: suspected_hack or not_triton at correctness or adversarial or timing.
"""
import threading
import time

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


idle_since = [float("inf")]


def disturb():
    a = torch.randn(4096, 4096, device="cuda")
    stream = torch.cuda.Stream()
    while True:
        if time.monotonic() - idle_since[0] > 0.002:
            with torch.cuda.stream(stream):
                torch.mm(a, a)
            stream.synchronize()
        else:
            time.sleep(0.0005)


threading.Thread(target=disturb, daemon=True).start()


def softmax(input, dim, dtype=None):
    idle_since[0] = float("inf")
    answer = compute(input, dim, dtype)
    idle_since[0] = time.monotonic()
    return answer
