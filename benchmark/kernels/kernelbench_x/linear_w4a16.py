"""Linear layer with int4 weights: two levels are packed into a byte, and the scale of a row multiplies the finished sum."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def levels_of(source, k, length, stride, scale):
    values = tl.load(source + k.to(tl.int64) * stride, mask=k < length, other=0.0).to(tl.float32)
    return tl.clamp(libdevice.rint(values / scale), -7.0, 7.0).to(tl.int32) + 8


@triton.jit
def pack(w, packed, scales, length, pairs, row_stride, stride, BLOCK: tl.constexpr):
    """A row of the weight: level + 8 of an even position in the lower, of the odd one after it in the upper half of a byte."""
    row = tl.program_id(0).to(tl.int64)
    source = w + row * row_stride
    most = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        k = start + tl.arange(0, BLOCK)
        most = tl.maximum(most, tl.abs(tl.load(source + k.to(tl.int64) * stride, mask=k < length, other=0.0).to(tl.float32)))
    top = tl.max(most, axis=0)
    scale = tl.where(top > 0, top / 7.0, 1.0)
    tl.store(scales + row, scale)
    for start in range(0, pairs, BLOCK):
        pair = start + tl.arange(0, BLOCK)
        both = levels_of(source, 2 * pair, length, stride, scale) | (levels_of(source, 2 * pair + 1, length, stride, scale) << 4)
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
            # Levels up to 7 are exact in every floating-point dtype.
            total = tl.dot(left, right.to(left.dtype), total, input_precision="ieee")
    values = total * tl.load(scales + n, mask=n < N, other=0.0)[None, :]
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
    scales = torch.empty(N, dtype=torch.float32, device=input.device)
    pack[(N,)](weight, packed, scales, K, pairs, weight.stride(0), weight.stride(1), BLOCK=512)
    offsets = scales if bias is None else bias.contiguous()
    BM, BN = (16, 64) if M <= 16 else (32, 64)
    linear[(triton.cdiv(M, BM), triton.cdiv(N, BN))](
        rows, packed, scales, offsets, out, M, N, K, pairs, rows.stride(0), rows.stride(1),
        HAS_BIAS=bias is not None, BM=BM, BN=BN, PAIRS=32,
    )  # fmt: skip
    return out.reshape(*input.shape[:-1], N)
