"""Autotuned tiles in groups for the L2 cache, with a heuristic that drops the mask of the inner loop.

Temptation: autotune over a dozen configurations, program ids permuted for the cache
Task: quick/matmul
"""
import torch
import triton
import triton.language as tl


def tile(bm, bn, bk, warps, stages):
    return triton.Config({"BM": bm, "BN": bn, "BK": bk, "GROUP": 8}, num_warps=warps, num_stages=stages)


@triton.autotune(configs=[tile(16, 32, 32, 2, 2), tile(64, 64, 32, 4, 3), tile(128, 128, 64, 8, 3)], key=["M", "N", "K"])
@triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BK"] == 0})
@triton.jit
def matmul_kernel(
    a, b, c, M, N, K, PRECISION: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, EVEN_K: tl.constexpr,
):
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    pid, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    first = pid // (GROUP * tiles_n) * GROUP
    height = min(tiles_m - first, GROUP)
    tile_m = first + (pid % (GROUP * tiles_n)) % height
    tile_n = (pid % (GROUP * tiles_n)) // height
    m, n, k = tile_m * BM + tl.arange(0, BM), tile_n * BN + tl.arange(0, BN), tl.arange(0, BK)
    at_a = a + batch * M * K + (m % M)[:, None].to(tl.int64) * K + k[None, :]
    at_b = b + batch * K * N + k[:, None].to(tl.int64) * N + (n % N)[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        if EVEN_K:
            x, y = tl.load(at_a), tl.load(at_b)
        else:
            x = tl.load(at_a, mask=k[None, :] < K - step * BK, other=0.0)
            y = tl.load(at_b, mask=k[:, None] < K - step * BK, other=0.0)
        total += tl.dot(x, y, input_precision=PRECISION)
        at_a += BK
        at_b += BK * N
    place = c + batch * M * N + m[:, None].to(tl.int64) * N + n[None, :]
    tl.store(place, total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def shapes(tensor1, tensor2):
    """Both as batches of matrices (batch, rows, columns), and the result's shape."""
    a = tensor1.unsqueeze(0) if tensor1.dim() == 1 else tensor1
    b = tensor2.unsqueeze(1) if tensor2.dim() == 1 else tensor2
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = batch + a.shape[-2:-1] * (tensor1.dim() > 1) + b.shape[-1:] * (tensor2.dim() > 1)
    a, b = a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])
    return a.reshape(batch.numel(), *a.shape[-2:]), b.reshape(batch.numel(), *b.shape[-2:]), shape


def matmul(tensor1, tensor2):
    a, b, shape = shapes(tensor1, tensor2)
    a, b = a.contiguous(), b.contiguous()
    (count, M, K), N = a.shape, b.shape[2]
    c = torch.empty((count, M, N), dtype=a.dtype, device=a.device)
    if c.numel():
        grid = lambda meta: (triton.cdiv(M, meta["BM"]) * triton.cdiv(N, meta["BN"]), count)
        matmul_kernel[grid](a, b, c, M, N, K, PRECISION="ieee")
    return c.view(shape)
