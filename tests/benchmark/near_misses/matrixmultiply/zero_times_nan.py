"""The addend is read and multiplied for beta = 0 too, so that its NaN come through.

Task: kernelbench_x/addmm.
Expected: nonfinite at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def add_product(
    c, a, b, out, M, N, K, cm, cn, am, ak, bk, bn, om, on, beta, alpha,
    HAS_ADDEND: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    columns = (tl.program_id(1) * BN + tl.arange(0, BN)).to(tl.int64)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * am + k[None, :] * ak, mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + k[:, None] * bk + columns[None, :] * bn, mask=(k[:, None] < K) & (columns[None, :] < N), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    total *= alpha
    if HAS_ADDEND:
        total += beta * tl.load(c + rows[:, None] * cm + columns[None, :] * cn, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + rows[:, None] * om + columns[None, :] * on, total.to(out.dtype.element_ty), mask=inside)


def addmm(input, mat1, mat2, beta=1, alpha=1, out=None):
    (M, K), N = mat1.shape, mat2.shape[1]
    addend = input.expand(M, N)
    if out is None:
        out = torch.empty((M, N), dtype=mat1.dtype, device=mat1.device)
    half = mat1.dtype.itemsize == 2
    tile, depth = (128, 64) if half and M * N >= 1 << 16 else (32, 32)
    add_product[(triton.cdiv(M, tile), triton.cdiv(N, tile))](
        addend, mat1, mat2, out, M, N, K, *addend.stride(), *mat1.stride(), *mat2.stride(), *out.stride(), float(beta), float(alpha),
        HAS_ADDEND=True, BM=tile, BN=tile, BK=depth, num_warps=4 if tile == 32 else 8,
    )  # fmt: skip
    return out
