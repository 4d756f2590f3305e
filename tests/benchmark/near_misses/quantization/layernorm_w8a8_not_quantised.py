"""The normalised row is stored as it is: nothing goes through int8.

Task: kernelbench_x/layernorm_w8a8.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def norm_rows(x, weight, bias, out, length, row_stride, stride, eps, HAS_WEIGHT: tl.constexpr, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, BLOCK)
    inside = k < length
    values = tl.load(x + row * row_stride + k.to(tl.int64) * stride, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / length
    centred = tl.where(inside, values - mean, 0.0)
    y = centred / tl.sqrt(tl.sum(centred * centred, axis=0) / length + eps)
    if HAS_WEIGHT:
        y *= tl.load(weight + k, mask=inside, other=0.0).to(tl.float32)
    if HAS_BIAS:
        y += tl.load(bias + k, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + row * length + k, y.to(out.dtype.element_ty), mask=inside)


def layernorm_w8a8(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    axes = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    rows = input.flatten(-axes).reshape(-1, input[(0,) * (input.dim() - axes)].numel())
    out = torch.empty(input.shape, dtype=input.dtype, device=input.device)
    length = rows.shape[1]
    norm_rows[(rows.shape[0],)](
        rows, out if weight is None else weight.contiguous(), out if bias is None else bias.contiguous(), out, length,
        rows.stride(0), rows.stride(1), eps,
        HAS_WEIGHT=weight is not None, HAS_BIAS=bias is not None, BLOCK=triton.next_power_of_2(length),
        num_warps=4 if length <= 2048 else 8,
    )  # fmt: skip
    return out
