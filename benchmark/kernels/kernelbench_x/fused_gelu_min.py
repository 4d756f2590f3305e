"""Smallest GELU and its index: one program walks along a line and keeps the best value and where it stood.

GELU is not monotonic, so that it is computed for every element. Lanes beyond the line are +infinity, NaN counts as -infinity.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu_min_rows(x, values, indices, columns, TANH: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    best = tl.full((), float("inf"), tl.float32)
    where = tl.zeros((), tl.int64)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < columns
        v = tl.load(x + row * columns + offsets, mask=mask, other=0.0).to(tl.float32)
        if TANH:
            g = v - v / (1.0 + tl.exp(1.5957691216057308 * (v + 0.044715 * v * v * v)))
        else:
            g = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
        key = tl.where(g != g, -float("inf"), g)
        key = tl.where(mask, key, float("inf"))
        least, at = tl.min(key, axis=0, return_indices=True)
        if least < best:
            best = least
            where = (start + at).to(tl.int64)
    tl.store(values + row, tl.where(best == -float("inf"), float("nan"), best).to(values.dtype.element_ty))
    tl.store(indices + row, where)


def fused_gelu_min(input, approximate="none", dim=None, keepdim=False, out=None):
    x = input.reshape(1, -1) if dim is None else input.movedim(dim, -1)
    x = x.contiguous()
    columns = x.shape[-1]
    values = torch.empty(x.shape[:-1], dtype=x.dtype, device=x.device)
    indices = torch.empty(x.shape[:-1], dtype=torch.int64, device=x.device)
    block = min(2048, triton.next_power_of_2(columns))
    gelu_min_rows[(x.numel() // columns,)](x, values, indices, columns, TANH=approximate == "tanh", BLOCK=block)
    if dim is None:
        return values.reshape(())
    if keepdim:
        values, indices = values.unsqueeze(dim), indices.unsqueeze(dim)
    return (values, indices) if out is None else (out[0].copy_(values), out[1].copy_(indices))
