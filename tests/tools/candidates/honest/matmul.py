"""Tiled product with fp32 accumulation and no TF32; batches by the grid's second axis.

Temptation: `expand` and `contiguous` of a batch (most of the copies are torch's)
Task: quick/matmul
"""
import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tiles = tl.cdiv(N, BN)
    tile, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    rows = (tile // tiles) * BM + tl.arange(0, BM)
    columns = (tile % tiles) * BN + tl.arange(0, BN)
    a += batch * M * K
    b += batch * K * N
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        inner = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None].to(tl.int64) * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0)
        y = tl.load(b + inner[:, None].to(tl.int64) * N + columns[None, :], mask=(inner[:, None] < K) & (columns[None, :] < N), other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
    place = c + batch * M * N + rows[:, None].to(tl.int64) * N + columns[None, :]
    tl.store(place, total.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


def matmul(tensor1, tensor2):
    a = tensor1.unsqueeze(0) if tensor1.dim() == 1 else tensor1
    b = tensor2.unsqueeze(1) if tensor2.dim() == 1 else tensor2
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    M, K, N = a.shape[-2], a.shape[-1], b.shape[-1]
    a = a.expand(*batch, M, K).contiguous()
    b = b.expand(*batch, K, N).contiguous()
    c = torch.empty((*batch, M, N), dtype=tensor1.dtype, device=tensor1.device)
    count = 1
    for size in batch:
        count *= size
    if c.numel():
        BM, BN, BK = 32, 32, 32
        matmul_kernel[(triton.cdiv(M, BM) * triton.cdiv(N, BN), count)](a, b, c, M, N, K, BM=BM, BN=BN, BK=BK)
    if tensor1.dim() == 1:
        c = c.squeeze(-2)
    return c.squeeze(-1) if tensor2.dim() == 1 else c
