"""Converts to fp32 before each product, so that no tensor core is used: right, and many times slower.

Temptation: slow but right (an upcast where half precision would do)
Task: quick/matmul
"""
import torch
import triton
import triton.language as tl


@triton.jit
def matmul_fp32(a, b, c, M, N, K, B: tl.constexpr):
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    a += tl.program_id(2).to(tl.int64) * M * K
    b += tl.program_id(2).to(tl.int64) * K * N
    c += tl.program_id(2).to(tl.int64) * M * N
    total = tl.zeros((B, B), dtype=tl.float32)
    for k0 in range(0, K, 16):
        k = k0 + tl.arange(0, 16)
        x = tl.load(a + m[:, None] * K + k[None, :], (m[:, None] < M) & (k[None, :] < K), 0.0).to(tl.float32)
        y = tl.load(b + k[:, None] * N + n[None, :], (k[:, None] < K) & (n[None, :] < N), 0.0).to(tl.float32)
        total += tl.dot(x, y, input_precision="ieee")
    tl.store(c + m[:, None] * N + n[None, :], total.to(c.dtype.element_ty), (m[:, None] < M) & (n[None, :] < N))


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
        B = 32 if M < 512 else 64
        matmul_fp32[(triton.cdiv(M, B), triton.cdiv(N, B), count)](a, b, out, M, N, K, B=B)
    return out
