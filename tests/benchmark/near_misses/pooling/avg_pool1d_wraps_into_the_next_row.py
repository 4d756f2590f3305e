"""Places beyond the end of a row are not masked: windows there take elements of the next row.

Task: kernelbench_x/avg_pool1d.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def pool(x, out, elements, total, length, windows, size, stride, padding, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    row, window = at // windows, at % windows
    first = window * stride - padding
    sums = tl.zeros((BLOCK,), tl.float32)
    for tap in range(size):
        place = first + tap
        there = (at < total) & (row * length + place >= 0) & (row * length + place < elements)
        sums += tl.load(x + row * length + place, mask=there, other=0.0).to(tl.float32)
    tl.store(out + at, (sums / size).to(out.dtype.element_ty), mask=at < total)


def avg_pool1d(input, kernel_size, stride=None, padding=0):
    stride = kernel_size if stride is None else stride
    x = input.contiguous()
    length = x.shape[-1]
    windows = (length + 2 * padding - kernel_size) // stride + 1
    out = torch.empty((*x.shape[:-1], windows), dtype=x.dtype, device=x.device)
    if out.numel():
        pool[(triton.cdiv(out.numel(), 256),)](x, out, x.numel(), out.numel(), length, windows, kernel_size, stride, padding, BLOCK=256)
    return out
