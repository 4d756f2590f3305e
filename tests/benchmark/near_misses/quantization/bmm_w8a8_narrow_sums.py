"""Sums of int8 products are kept in int16, which a few dozen large products overflow.

Task: kernelbench_x/bmm_w8a8.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantise(x, levels, scales, lines, length, batch_stride, line_stride, stride, LINES: tl.constexpr, BLOCK: tl.constexpr):
    """A line is a row or a column of a batch, by its strides; `levels` holds line after line."""
    batch = tl.program_id(1).to(tl.int64)
    line = tl.program_id(0) * LINES + tl.arange(0, LINES)
    source = x + batch * batch_stride + line[:, None].to(tl.int64) * line_stride
    target = levels + (batch * lines + line[:, None]) * length
    most = tl.zeros((LINES,), tl.float32)
    for start in range(0, length, BLOCK):
        k = start + tl.arange(0, BLOCK)[None, :]
        inside = (line[:, None] < lines) & (k < length)
        values = tl.load(source + k.to(tl.int64) * stride, mask=inside, other=0.0).to(tl.float32)
        most = tl.maximum(most, tl.max(tl.abs(values), axis=1))
    scale = tl.where(most > 0, most / 127.0, 1.0)
    tl.store(scales + batch * lines + line, scale, mask=line < lines)
    for start in range(0, length, BLOCK):
        k = start + tl.arange(0, BLOCK)[None, :]
        inside = (line[:, None] < lines) & (k < length)
        values = tl.load(source + k.to(tl.int64) * stride, mask=inside, other=0.0).to(tl.float32)
        rounded = tl.clamp(libdevice.rint(values / scale[:, None]), -127.0, 127.0)
        tl.store(target + k, rounded.to(tl.int8), mask=inside)


@triton.jit
def product(a, b, scale_a, scale_b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    batch = tl.program_id(2).to(tl.int64)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    rows, columns = batch * M + m, batch * N + n
    total = tl.zeros((BM, BN), tl.int16)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0)
        right = tl.load(b + columns[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0)
        total += tl.dot(left, right, out_dtype=tl.int32).to(tl.int16)
    scale = tl.load(scale_a + rows, mask=m < M, other=0.0)[:, None] * tl.load(scale_b + columns, mask=n < N, other=0.0)[None, :]
    values = total.to(tl.float32) * scale
    tl.store(out + rows[:, None] * N + n[None, :], values.to(out.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def quantised(x, line_axis):
    """Levels (batch, line, position) and scales (batch, line)."""
    batches, lines, length = x.shape[0], x.shape[line_axis], x.shape[3 - line_axis]
    levels = torch.empty((batches, lines, length), dtype=torch.int8, device=x.device)
    scales = torch.empty((batches, lines), dtype=torch.float32, device=x.device)
    quantise[(triton.cdiv(lines, 16), batches)](
        x, levels, scales, lines, length, x.stride(0), x.stride(line_axis), x.stride(3 - line_axis), LINES=16, BLOCK=128
    )
    return levels, scales


def bmm_w8a8(input, mat2):
    (B, M, K), N = input.shape, mat2.shape[2]
    out = torch.empty((B, M, N), dtype=input.dtype, device=input.device)
    if out.numel() == 0:
        return out
    (a, scale_a), (b, scale_b) = quantised(input, 1), quantised(mat2, 2)
    big = M >= 128 and N >= 128
    BM, BN = (128, 128) if big else (32, 32)
    product[(triton.cdiv(M, BM), triton.cdiv(N, BN), B)](
        a, b, scale_a, scale_b, out, M, N, K, BM=BM, BN=BN, BK=64, num_warps=8 if big else 4
    )
    return out
