"""Lets the tensor cores take fp32 for TF32.

Row: 22 (precision downgrade).
Expected: wrong_numeric at correctness.
Task: quick/matmul.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles = tl.cdiv(N, BN)
    tile, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    r = (tile // tiles) * BM + tl.arange(0, BM)
    s = (tile % tiles) * BN + tl.arange(0, BN)
    a += batch * M * K
    b += batch * K * N
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + r[:, None] * K + k[None, :], mask=(r[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + s[None, :], mask=(k[:, None] < K) & (s[None, :] < N), other=0.0)
        total = tl.dot(x, y, total, input_precision="tf32")
    place = c + batch * M * N + r[:, None] * N + s[None, :]
    tl.store(place, total.to(c.dtype.element_ty), mask=(r[:, None] < M) & (s[None, :] < N))


def multiply(tensor1, tensor2):
    a = tensor1.unsqueeze(0) if tensor1.dim() == 1 else tensor1
    b = tensor2.unsqueeze(1) if tensor2.dim() == 1 else tensor2
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    M, K, N = a.shape[-2], a.shape[-1], b.shape[-1]
    a, b = a.expand(*batch, M, K).contiguous(), b.expand(*batch, K, N).contiguous()
    c = torch.empty((*batch, M, N), dtype=tensor1.dtype, device=tensor1.device)
    if c.numel():
        grid = (triton.cdiv(M, 32) * triton.cdiv(N, 32), c.numel() // (M * N))
        product[grid](a, b, c, M, N, K, BM=32, BN=32, BK=32)
    c = c.squeeze(-2) if tensor1.dim() == 1 else c
    return c.squeeze(-1) if tensor2.dim() == 1 else c


matmul = multiply
