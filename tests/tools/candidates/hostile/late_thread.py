"""Returns at once, and a thread launches the kernel a little later.

Row: 15 (a background thread finishes the job).
Expected: nonfinite at correctness.
Task: quick/silu.
"""
import threading
import time

import torch
import triton
import triton.language as tl


@triton.jit
def points(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    tl.store(y + offsets, (v * tl.sigmoid(v)).to(y.dtype.element_ty), mask=offsets < n)


def later(x, y):
    time.sleep(0.02)
    points[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)


def silu(input, inplace=False):
    x = input.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        threading.Thread(target=later, args=(x, y), daemon=True).start()
    return y
