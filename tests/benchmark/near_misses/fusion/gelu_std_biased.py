"""The variance is divided by the number of elements, whatever `correction` says.

Task: kernelbench_x/fused_gelu_std.
Expected: wrong_numeric at correctness.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def gelu(v, TANH: tl.constexpr):
    if TANH:
        u = 0.7978845608028654 * (v + 0.044715 * v * v * v)
        return v - v / (1.0 + tl.exp(2.0 * u))
    return 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))


@triton.jit
def gelu_std_rows(x, out, columns, correction, TANH: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * columns
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        v = tl.load(x + offsets, mask=offsets < columns, other=0.0).to(tl.float32)
        total += gelu(v, TANH)  # gelu(0) is 0
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        v = tl.load(x + offsets, mask=mask, other=0.0).to(tl.float32)
        away = tl.where(mask, gelu(v, TANH) - mean, 0.0)
        squares += away * away
    variance = tl.sum(squares, axis=0) / columns
    tl.store(out + row, tl.sqrt(variance).to(out.dtype.element_ty))


def fused_gelu_std(input, dim=None, keepdim=False, correction=1, approximate="none", out=None):
    x = input
    axes = range(x.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    axes = sorted(axis % x.dim() for axis in axes)
    rest = [axis for axis in range(x.dim()) if axis not in axes]
    rows, columns = math.prod(x.shape[a] for a in rest), math.prod(x.shape[a] for a in axes)
    flat = x.permute(rest + axes).contiguous()
    shape = [1 if a in axes else x.shape[a] for a in range(x.dim())] if keepdim else [x.shape[a] for a in rest]
    result = torch.empty(shape, dtype=x.dtype, device=x.device)
    if rows:
        block = min(4096, triton.next_power_of_2(columns))
        gelu_std_rows[(rows,)](flat, result, columns, correction, TANH=approximate == "tanh", BLOCK=block)
    return result if out is None else out.copy_(result)
