"""The scale is max / 128 and nothing is clamped: the largest value of a line becomes 128, for which int8 has no room.

Task: kernelbench_x/matmul_w8a8.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantise(x, levels, scales, lines, length, line_stride, stride, LINES: tl.constexpr, BLOCK: tl.constexpr):
    """A line is a row or a column, by its strides; `levels` holds line after line."""
    line = tl.program_id(0) * LINES + tl.arange(0, LINES)
    source = x + line[:, None].to(tl.int64) * line_stride
    most = tl.zeros((LINES,), tl.float32)
    for start in range(0, length, BLOCK):
        k = start + tl.arange(0, BLOCK)[None, :]
        inside = (line[:, None] < lines) & (k < length)
        values = tl.load(source + k.to(tl.int64) * stride, mask=inside, other=0.0).to(tl.float32)
        most = tl.maximum(most, tl.max(tl.abs(values), axis=1))
    scale = tl.where(most > 0, most / 128.0, 1.0)
    tl.store(scales + line, scale, mask=line < lines)
    for start in range(0, length, BLOCK):
        k = start + tl.arange(0, BLOCK)[None, :]
        inside = (line[:, None] < lines) & (k < length)
        values = tl.load(source + k.to(tl.int64) * stride, mask=inside, other=0.0).to(tl.float32)
        rounded = libdevice.rint(values / scale[:, None])
        tl.store(levels + line[:, None].to(tl.int64) * length + k, rounded.to(tl.int32).to(tl.int8), mask=inside)


@triton.jit
def product(a, b, scale_a, scale_b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.int32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + m[:, None].to(tl.int64) * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0)
        right = tl.load(b + n[None, :].to(tl.int64) * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0)
        total = tl.dot(left, right, total, out_dtype=tl.int32)
    scale = tl.load(scale_a + m, mask=m < M, other=0.0)[:, None] * tl.load(scale_b + n, mask=n < N, other=0.0)[None, :]
    values = total.to(tl.float32) * scale
    place = out + m[:, None].to(tl.int64) * N + n[None, :]
    tl.store(place, values.to(out.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def quantised(x, line_axis):
    """Levels, line after line, and scales of the lines along the other axis."""
    lines, length = x.shape[line_axis], x.shape[1 - line_axis]
    levels = torch.empty((lines, length), dtype=torch.int8, device=x.device)
    scales = torch.empty(lines, dtype=torch.float32, device=x.device)
    quantise[(triton.cdiv(lines, 16),)](x, levels, scales, lines, length, x.stride(line_axis), x.stride(1 - line_axis), LINES=16, BLOCK=128)
    return levels, scales


def matmul_w8a8(input, weight):
    (M, K), N = input.shape, weight.shape[1]
    out = torch.empty((M, N), dtype=input.dtype, device=input.device)
    if out.numel() == 0:
        return out
    (a, scale_a), (b, scale_b) = quantised(input, 0), quantised(weight, 1)
    big = M >= 128 and N >= 128
    BM, BN = (128, 128) if big else (32, 32)
    product[(triton.cdiv(M, BM), triton.cdiv(N, BN))](a, b, scale_a, scale_b, out, M, N, K, BM=BM, BN=BN, BK=64, num_warps=8 if big else 4)
    return out
