"""tanh(weight[indices] + other): one program per looked-up row. With max_norm two kernels before it renormalise rows in place:
one marks the rows that are looked up, so that each is scaled once, the other scales them."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def mark(indices, used, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(used + tl.load(indices + offsets, mask=mask, other=0), 1, mask=mask)


@triton.jit
def renormalise(weight, used, width, row_stride, column_stride, max_norm, norm_type, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    if tl.load(used + row) != 0:
        offsets = tl.arange(0, BLOCK)
        mask = offsets < width
        place = weight + row * row_stride + offsets * column_stride
        v = tl.load(place, mask=mask, other=0.0).to(tl.float32)
        powers = tl.where(v == 0, 0.0, tl.exp2(norm_type * tl.log2(tl.abs(v))))
        norm = tl.exp2(tl.log2(tl.sum(powers, axis=0)) / norm_type)
        if norm > max_norm:
            tl.store(place, (v * (max_norm / (norm + 1e-7))).to(weight.dtype.element_ty), mask=mask)


@triton.jit
def look_up(indices, weight, other, out, width, row_stride, column_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    index = tl.load(indices + row).to(tl.int64)
    offsets = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < width
    v = tl.load(weight + index * row_stride + offsets * column_stride, mask=mask, other=0.0).to(tl.float32)
    v += tl.load(other + row * width + offsets, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * width + offsets, libdevice.tanh(v).to(out.dtype.element_ty), mask=mask)


def fused_embedding_add_tanh(
    input_indices, weight, other, *, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False, out=None
):
    indices = input_indices.contiguous()
    rows, width = weight.shape
    shape = (*indices.shape, width)
    other = other.expand(shape).contiguous()
    result = torch.empty(shape, dtype=weight.dtype, device=weight.device)
    n = indices.numel()
    if n and max_norm is not None:
        used = torch.zeros(rows, dtype=torch.int32, device=weight.device)
        mark[(triton.cdiv(n, 256),)](indices, used, n, BLOCK=256)
        renormalise[(rows,)](weight, used, width, *weight.stride(), max_norm, norm_type, BLOCK=triton.next_power_of_2(width))
    if n:
        block = min(1024, triton.next_power_of_2(width))
        look_up[(n, triton.cdiv(width, block))](indices, weight, other, result, width, *weight.stride(), BLOCK=block)
    return result if out is None else out.copy_(result)
