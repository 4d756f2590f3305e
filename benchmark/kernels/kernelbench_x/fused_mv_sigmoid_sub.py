"""sigmoid(A @ v) - alpha * other: a program takes some rows and walks along them in blocks of columns."""

import torch
import triton
import triton.language as tl


@triton.jit
def mv_sigmoid_sub(a, v, other, out, N, M, row_stride, column_stride, alpha, NUMBER: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    inside = rows < N
    at = a + rows.to(tl.int64)[:, None] * row_stride
    total = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    for start in range(0, M, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(at + columns[None, :] * column_stride, mask=inside[:, None] & (columns[None, :] < M), other=0.0)
        y = tl.load(v + columns, mask=columns < M, other=0.0)
        total += x.to(tl.float32) * y.to(tl.float32)[None, :]
    s = 1.0 / (1.0 + tl.exp(-tl.sum(total, axis=1)))
    if NUMBER:
        s = s - alpha * other
    else:
        s = s - alpha * tl.load(other + rows, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + rows, s.to(out.dtype.element_ty), mask=inside)


def fused_mv_sigmoid_sub(input, vec, other, alpha=1, *, out=None):
    n, m = input.shape
    vec = vec.contiguous()
    number = not isinstance(other, torch.Tensor)
    if not number:
        other = other.expand(n).contiguous()
    result = torch.empty(n, dtype=input.dtype, device=input.device)
    rows = 4 if n < 4096 else 16
    mv_sigmoid_sub[(triton.cdiv(n, rows),)](input, vec, other, result, n, m, *input.stride(), alpha, NUMBER=number, ROWS=rows, BLOCK=128)
    return result if out is None else out.copy_(result)
