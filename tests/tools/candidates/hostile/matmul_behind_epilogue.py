"""The product is torch's, asked for below the public functions; a kernel does the epilogue.

Row: 1 (a library call behind a decorative kernel).
Expected: not_triton at adversarial.
Task: quick/matmul.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def epilogue(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    tl.store(y + offsets, (value * 1.0 + 0.0).to(y.dtype.element_ty), mask=offsets < n)


def matmul(tensor1, tensor2):
    if tensor1.dim() == tensor2.dim() == 2:
        x = torch.ops.aten.mm.default(tensor1, tensor2)
    else:
        x = torch.ops.aten.matmul.default(tensor1, tensor2)
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        epilogue[(triton.cdiv(x.numel(), 512),)](x, y, x.numel(), BLOCK=512)
    return y
