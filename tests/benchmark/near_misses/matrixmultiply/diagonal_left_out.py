"""The triangle is taken below the main diagonal.

Task: kernelbench_x/tril_mm_and_scale.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def triangle_product(a, b, c, M, N, K, am, ak, bk, bn, scale, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    first = tl.program_id(0) * BM
    rows = (first + tl.arange(0, BM)).to(tl.int64)
    columns = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, tl.minimum(K, first + BM), BK):
        k = start + tl.arange(0, BK)
        lower = (rows[:, None] < M) & (k[None, :] < K) & (k[None, :] < rows[:, None])
        left = tl.load(a + rows[:, None] * am + k[None, :] * ak, mask=lower, other=0.0)
        right = tl.load(b + k[:, None] * bk + columns[None, :] * bn, mask=(k[:, None] < K) & (columns[None, :] < N), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], (total * scale).to(c.dtype.element_ty), mask=inside)


def tril_mm_and_scale(A, B, alpha, beta):
    (M, K), N = A.shape, B.shape[1]
    out = torch.empty((M, N), dtype=A.dtype, device=A.device)
    tile, depth = (128, 64) if A.dtype.itemsize == 2 and M * N >= 1 << 16 else (32, 32)
    grid = (triton.cdiv(M, tile), triton.cdiv(N, tile))
    triangle_product[grid](
        A, B, out, M, N, K, *A.stride(), *B.stride(), float(alpha * beta), BM=tile, BN=tile, BK=depth, num_warps=4 if tile == 32 else 8
    )
    return out
