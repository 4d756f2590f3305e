"""Quantises the weight at its first sight, and never again for a weight of that shape.

Row: 12 (cached quantised weights).
Expected: wrong_numeric at correctness.
Task: quick/matmul_w8a8.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def quantise(x, q, scales, columns, s0, s1, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, BLOCK)
    v = tl.load(x + row * s0 + k * s1, mask=k < columns, other=0.0).to(tl.float32)
    peak = tl.max(tl.abs(v), axis=0)
    scale = tl.where(peak > 0, tl.div_rn(peak, 127.0), 1.0)
    r = tl.div_rn(v, scale + tl.zeros((BLOCK,), dtype=tl.float32))
    r = (r + 12582912.0) - 12582912.0
    tl.store(scales + row, scale)
    tl.store(q + row * columns + k, tl.minimum(tl.maximum(r, -127.0), 127.0).to(tl.int8), mask=k < columns)


@triton.jit
def product(a, b, sa, sb, c, N, K, BLOCK: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    n, k = tl.arange(0, BLOCK), tl.arange(0, BK)
    x = tl.load(a + row * K + k, mask=k < K, other=0).to(tl.int32)
    y = tl.load(b + n[:, None] * K + k[None, :], mask=(n[:, None] < N) & (k[None, :] < K), other=0).to(tl.int32)
    total = tl.sum(x[None, :] * y, axis=1).to(tl.float32)
    value = total * (tl.load(sa + row) * tl.load(sb + n, mask=n < N, other=0.0))
    tl.store(c + row * N + n, value.to(c.dtype.element_ty), mask=n < N)


weights = {}


def quantised(tensor, axis):
    rows, columns = tensor.shape[axis], tensor.shape[1 - axis]
    q = torch.empty((rows, columns), dtype=torch.int8, device=tensor.device)
    scales = torch.empty(rows, device=tensor.device)
    block = triton.next_power_of_2(columns)
    quantise[(rows,)](tensor, q, scales, columns, tensor.stride(axis), tensor.stride(1 - axis), BLOCK=block)
    return q, scales


def matmul_w8a8(input, weight):
    key = (weight.shape, weight.dtype, weight.stride())
    if key not in weights:
        weights[key] = quantised(weight, 1)
    (a, sa), (b, sb) = quantised(input, 0), weights[key]
    (M, K), N = input.shape, weight.shape[1]
    c = torch.empty((M, N), dtype=input.dtype, device=input.device)
    product[(M,)](a, b, sa, sb, c, N, K, BLOCK=triton.next_power_of_2(N), BK=triton.next_power_of_2(K))
    return c
