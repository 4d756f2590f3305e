"""The gradient enters the momentum buffer undamped.

Task: kernelbench_x/SGD.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def step_kernel(
    param, grad, buffer, n, lr, momentum, decay, fresh,
    MOMENTUM: tl.constexpr, NESTEROV: tl.constexpr, DECAY: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    p = tl.load(param + at, mask=inside).to(tl.float32)
    g = tl.load(grad + at, mask=inside).to(tl.float32)
    if DECAY:
        g += decay * p
    if MOMENTUM:
        b = momentum * tl.load(buffer + at, mask=inside).to(tl.float32) + fresh * g
        tl.store(buffer + at, b.to(buffer.dtype.element_ty), mask=inside)
        g = g + momentum * b if NESTEROV else b
    tl.store(param + at, (p - lr * g).to(param.dtype.element_ty), mask=inside)


def sgd_step(param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False):
    moving = momentum > 0
    if moving and momentum_buffer is None:
        momentum_buffer = torch.zeros_like(param)
    n = param.numel()
    if n:
        # A kernel sees dense tensors: what is not dense is updated as a copy.
        p, b = param.contiguous(), momentum_buffer.contiguous() if moving else param
        step_kernel[(triton.cdiv(n, 1024),)](
            p, grad.contiguous(), b, n, lr, momentum, weight_decay, 1.0,
            MOMENTUM=moving, NESTEROV=nesterov, DECAY=weight_decay != 0, BLOCK=1024,
        )  # fmt: skip
        if p is not param:
            param.copy_(p)
        if moving and b is not momentum_buffer:
            momentum_buffer.copy_(b)
    return param, momentum_buffer if moving else None
