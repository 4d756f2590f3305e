"""Sums are kept in fp16 from tile to tile.

Task: kernelbench_x/matmul_fp16.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    columns = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
    total = tl.zeros((BM, BN), dtype=tl.float16)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * am + k[None, :] * ak, mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + k[:, None] * bk + columns[None, :] * bn, mask=(k[:, None] < K) & (columns[None, :] < N), other=0.0)
        total += tl.dot(left, right).to(tl.float16)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16), mask=inside)


def matmul_fp16(input, other):
    (M, K), N = input.shape, other.shape[1]
    out = torch.empty((M, N), dtype=torch.float16, device=input.device)
    tile, depth = (32, 32) if M * N < 1 << 16 else (128, 64)
    grid = (triton.cdiv(M, tile), triton.cdiv(N, tile))
    warps = 4 if tile == 32 else 8
    product[grid](input, other, out, M, N, K, *input.stride(), *other.stride(), BM=tile, BN=tile, BK=depth, num_warps=warps)
    return out
