"""A `torch.autograd.Function` whose forward launches the kernel; its backward says that there is none.

Temptation: autograd.Function with a method that raises (a stub, but not of what is asked)
Task: quick/rms_norm
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def rms_norm_loop(x, weight, out, columns, eps, HAS_WEIGHT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        v = tl.load(x + row * columns + start + c, mask=start + c < columns, other=0.0).to(tl.float32)
        squares += v * v
    scale = 1.0 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    for start in range(0, columns, BLOCK):
        mask = start + c < columns
        y = tl.load(x + row * columns + start + c, mask=mask).to(tl.float32) * scale
        if HAS_WEIGHT:
            y *= tl.load(weight + start + c, mask=mask).to(tl.float32)
        tl.store(out + row * columns + start + c, y.to(out.dtype.element_ty), mask=mask)


class RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input, columns, weight, eps):
        x = input.contiguous()
        out = torch.empty_like(x)
        if x.numel():
            w = weight.contiguous() if weight is not None else x
            rms_norm_loop[(x.numel() // columns,)](x, w, out, columns, eps, HAS_WEIGHT=weight is not None, BLOCK=1024)
        ctx.save_for_backward(x)
        return out

    @staticmethod
    def backward(ctx, gradient):
        raise NotImplementedError("only the forward pass is asked for")


def rms_norm(input, normalized_shape, weight=None, eps=None):
    return RMSNorm.apply(input, math.prod(normalized_shape), weight, 2**-23 if eps is None else eps)
