"""A fixed number of programs walks over the rows; the weight is loaded once per program.

Temptation: the weight kept in registers over many rows (state within a launch, not between calls)
Task: quick/rms_norm
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_walk(x, weight, out, rows, columns, eps, HAS_WEIGHT: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    mask = c < columns
    w = tl.full((BLOCK,), 1.0, tl.float32)
    if HAS_WEIGHT:
        w = tl.load(weight + c, mask=mask, other=0.0).to(tl.float32)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        at = row.to(tl.int64) * columns + c
        v = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
        y = v * tl.rsqrt(tl.sum(v * v, axis=0) / columns + eps) * w
        tl.store(out + at, y.to(out.dtype.element_ty), mask=mask)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    x = input.contiguous()
    out = torch.empty_like(x)
    columns = math.prod(normalized_shape)
    rows = x.numel() // columns
    if rows:
        eps = torch.finfo(torch.float32).eps if eps is None else eps
        programs = min(rows, 8 * torch.cuda.get_device_properties(x.device).multi_processor_count)
        w = weight.contiguous() if weight is not None else x
        rms_norm_walk[(programs,)](x, w, out, rows, columns, eps, HAS_WEIGHT=weight is not None, BLOCK=triton.next_power_of_2(columns))
    return out
