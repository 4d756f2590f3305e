"""The weight has a scale per input channel (column), where the contract has one per output channel (row).

Task: kernelbench_x/linear_w4a16.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def levels_of(source, scales, k, length, stride):
    scale = tl.load(scales + k, mask=k < length, other=1.0)
    values = tl.load(source + k.to(tl.int64) * stride, mask=k < length, other=0.0).to(tl.float32)
    return tl.clamp(libdevice.rint(values / scale), -7.0, 7.0).to(tl.int32) + 8


@triton.jit
def columns(w, scales, rows, length, row_stride, stride, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    top = tl.zeros((BLOCK,), tl.float32)
    for row in range(rows):
        top = tl.maximum(top, tl.abs(tl.load(w + row.to(tl.int64) * row_stride + k * stride, mask=k < length, other=0.0).to(tl.float32)))
    tl.store(scales + k, tl.where(top > 0, top / 7.0, 1.0), mask=k < length)


@triton.jit
def pack(w, packed, scales, length, pairs, row_stride, stride, BLOCK: tl.constexpr):
    """A row of the weight: level + 8 of an even position in the lower, of the odd one after it in the upper half of a byte."""
    row = tl.program_id(0).to(tl.int64)
    source = w + row * row_stride
    for start in range(0, pairs, BLOCK):
        pair = start + tl.arange(0, BLOCK)
        both = levels_of(source, scales, 2 * pair, length, stride) | (levels_of(source, scales, 2 * pair + 1, length, stride) << 4)
        tl.store(packed + row * pairs + pair, both.to(tl.uint8), mask=pair < pairs)


@triton.jit
def linear(
    x, packed, scales, bias, out, M, N, K, pairs, x_row, x_column,
    HAS_BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, PAIRS: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, pairs, PAIRS):
        pair = start + tl.arange(0, PAIRS)
        inside = (n[None, :] < N) & (pair[:, None] < pairs)
        both = tl.load(packed + n[None, :].to(tl.int64) * pairs + pair[:, None], mask=inside, other=0).to(tl.int32)
        for odd in tl.static_range(2):
            k = 2 * pair + odd
            place = x + m[:, None].to(tl.int64) * x_row + k[None, :].to(tl.int64) * x_column
            left = tl.load(place, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
            right = ((both >> (4 * odd)) & 15) - 8
            scale = tl.load(scales + k, mask=k < K, other=0.0)[:, None]
            total = tl.dot(left.to(tl.float32), right.to(tl.float32) * scale, total, input_precision="ieee")
    values = total
    if HAS_BIAS:
        values += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    place = out + m[:, None].to(tl.int64) * N + n[None, :]
    tl.store(place, values.to(out.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def linear_w4a16(input, weight, bias=None):
    N, K = weight.shape
    rows = input.reshape(-1, K)
    M, pairs = rows.shape[0], triton.cdiv(K, 2)
    out = torch.empty((M, N), dtype=input.dtype, device=input.device)
    packed = torch.empty((N, pairs), dtype=torch.uint8, device=input.device)
    scales = torch.empty(K, dtype=torch.float32, device=input.device)
    columns[(triton.cdiv(K, 128),)](weight, scales, N, K, weight.stride(0), weight.stride(1), BLOCK=128)
    pack[(N,)](weight, packed, scales, K, pairs, weight.stride(0), weight.stride(1), BLOCK=512)
    offsets = scales if bias is None else bias.contiguous()
    BM, BN = (16, 64) if M <= 16 else (32, 64)
    linear[(triton.cdiv(M, BM), triton.cdiv(N, BN))](
        rows, packed, scales, offsets, out, M, N, K, pairs, rows.stride(0), rows.stride(1),
        HAS_BIAS=bias is not None, BM=BM, BN=BN, PAIRS=32,
    )  # fmt: skip
    return out.reshape(*input.shape[:-1], N)
