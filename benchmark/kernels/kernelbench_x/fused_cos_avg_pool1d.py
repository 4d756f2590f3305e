"""Cosine and average pooling in one pass: each lane sums the cosines of one window."""

import torch
import triton
import triton.language as tl


@triton.jit
def pool(x, out, n, length, results, size, step, padding, COUNT_PADDING: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    row, first = (at // results).to(tl.int64), at % results * step - padding
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(size):
        inside = mask & (first + i >= 0) & (first + i < length)
        value = tl.load(x + row * length + first + i, mask=inside, other=0.0).to(tl.float32)
        # The cosine of padding is no term: padding counts as 0.
        total += tl.where(inside, tl.cos(value), 0.0)
    if COUNT_PADDING:
        count = tl.minimum(first + size, length + padding) - first
    else:
        count = tl.minimum(first + size, length) - tl.maximum(first, 0)
    tl.store(out + at, (total / count).to(out.dtype.element_ty), mask=mask)


def fused_cos_avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    step = kernel_size if stride is None else stride
    length = input.shape[-1]
    beyond = length + 2 * padding - kernel_size
    results = (beyond + (step - 1 if ceil_mode else 0)) // step + 1
    # A window must begin in the input or in its left padding.
    if ceil_mode and (results - 1) * step >= length + padding:
        results -= 1
    out = torch.empty((*input.shape[:-1], results), dtype=input.dtype, device=input.device)
    n = out.numel()
    if n:
        pool[(triton.cdiv(n, 256),)](
            input.contiguous(), out, n, length, results, kernel_size, step, padding, COUNT_PADDING=count_include_pad, BLOCK=256
        )
    return out
