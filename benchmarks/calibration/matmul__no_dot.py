"""Products by multiplication and addition of elements, without matrix units."""

import math

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
        y = tl.load(b + inner[None, :].to(tl.int64) * N + columns[:, None], mask=(inner[None, :] < K) & (columns[:, None] < N), other=0.0)
        # Of [:, :, None] times [None, :, :] triton 3.6 and 3.7 make a product in TF32, wrong by a factor of two at this BK.
        total += tl.sum(x.to(tl.float32)[:, None, :] * y.to(tl.float32)[None, :, :], axis=2)
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
    count = math.prod(batch)
    if c.numel():
        tiles = triton.cdiv(M, 32) * triton.cdiv(N, 32)
        matmul_kernel[(tiles, count)](a, b, c, M, N, K, BM=32, BN=32, BK=4)
    if tensor1.dim() == 1:
        c = c.squeeze(-2)
    return c.squeeze(-1) if tensor2.dim() == 1 else c
