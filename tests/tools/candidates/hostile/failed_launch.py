"""A launch that asks for more shared memory than there is, its error swallowed: the kernel never runs.

Row: 6 (a failed launch whose output is whatever lay there).
Expected: nonfinite at correctness.
Task: quick/matmul.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    r, s = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + r[:, None] * K + k[None, :], mask=(r[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + s[None, :], mask=(k[:, None] < K) & (s[None, :] < N), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + r[:, None] * N + s[None, :], total.to(c.dtype.element_ty), mask=(r[:, None] < M) & (s[None, :] < N))


def matmul(tensor1, tensor2):
    a, b = tensor1.contiguous(), tensor2.contiguous()
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype, device=a.device)
    try:
        product[triton.cdiv(M, 64), triton.cdiv(N, 64)](a, b, c, M, N, K, BM=64, BN=64, BK=256, num_stages=4)
    except triton.runtime.errors.OutOfResources:
        pass
    except RuntimeError as error:
        print("no launch:", error)
    return c
