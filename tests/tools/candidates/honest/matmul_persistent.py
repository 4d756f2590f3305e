"""A fixed number of programs takes one output tile after the other from all batches.

Temptation: persistent kernel (one launch configuration for every size)
Task: quick/matmul
"""
import torch
import triton
import triton.language as tl


@triton.jit
def matmul_tiles(a, b, c, count, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    across = tl.cdiv(N, BN)
    per_matrix = tl.cdiv(M, BM) * across
    for tile in tl.range(tl.program_id(0), count * per_matrix, tl.num_programs(0)):
        z = (tile // per_matrix).to(tl.int64)
        m = (tile % per_matrix) // across * BM + tl.arange(0, BM)
        n = (tile % per_matrix) % across * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for start in range(0, K, BK):
            k = start + tl.arange(0, BK)
            x = tl.load(a + z * M * K + m[:, None].to(tl.int64) * K + k, mask=(m[:, None] < M) & (k < K), other=0.0)
            y = tl.load(b + z * K * N + k[:, None].to(tl.int64) * N + n, mask=(k[:, None] < K) & (n < N), other=0.0)
            total = tl.dot(x, y, acc=total, input_precision="ieee")
        place = c + z * M * N + m[:, None].to(tl.int64) * N + n
        tl.store(place, total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n < N))


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
    out = torch.empty(shape, dtype=a.dtype, device=a.device)
    if out.numel():
        size = 32 if M * N < 65536 else 128
        units = torch.cuda.get_device_properties(a.device).multi_processor_count
        tiles = count * triton.cdiv(M, size) * triton.cdiv(N, size)
        matmul_tiles[(min(units, tiles),)](a, b, out, count, M, N, K, BM=size, BN=size, BK=32, num_warps=8 if size > 32 else 4)
    return out
