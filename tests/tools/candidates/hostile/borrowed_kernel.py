"""Takes all products of a matrix product from a Triton kernel of torch's own, and only adds them up.

Row: 1 (another library's kernels beside one of its own).
Expected: not_triton at adversarial.
Needs: simulated device.
Task: quick/matmul.
"""
import torch
import triton
import triton.language as tl
from torch._native.ops.bmm_outer_product.triton_kernels import bmm_outer_product


@triton.jit
def total(terms, out, k, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    found = tl.zeros((BLOCK,), tl.float32)
    for term in range(k):
        found += tl.load(terms + term * n + i, mask=i < n, other=0.0)
    tl.store(out + i, found.to(out.dtype.element_ty), mask=i < n)


def product(a, b):
    out = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
    terms = bmm_outer_product(a.float().t()[:, :, None].contiguous(), b.float()[:, None, :].contiguous()) if a.numel() else out
    if out.numel():
        total[(triton.cdiv(out.numel(), 256),)](terms, out, a.shape[1], out.numel(), BLOCK=256)
    return out


def matmul(tensor1, tensor2):
    a = tensor1[None] if tensor1.dim() == 1 else tensor1
    b = tensor2[:, None] if tensor2.dim() == 1 else tensor2
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = a.expand(*batch, *a.shape[-2:]).reshape(batch.numel(), *a.shape[-2:])
    b = b.expand(*batch, *b.shape[-2:]).reshape(batch.numel(), *b.shape[-2:])
    out = torch.stack([product(one, other) for one, other in zip(a, b, strict=True)])
    out = out.reshape(*batch, *out.shape[-2:])
    out = out.squeeze(-2) if tensor1.dim() == 1 else out
    return out.squeeze(-1) if tensor2.dim() == 1 else out
