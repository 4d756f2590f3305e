"""The step is right, but the second moment is not stored: the next step goes wrong.

Task: kernelbench_x/AdamW.
Expected: wrong_numeric at correctness.
"""

import triton
import triton.language as tl


@triton.jit
def step_kernel(param, grad, exp_avg, exp_avg_sq, n, decay, beta1, rest1, beta2, rest2, rate, root, eps, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    p = tl.load(param + at, mask=inside).to(tl.float32) * decay
    g = tl.load(grad + at, mask=inside).to(tl.float32)
    m = tl.load(exp_avg + at, mask=inside).to(tl.float32) * beta1 + g * rest1
    v = tl.load(exp_avg_sq + at, mask=inside).to(tl.float32) * beta2 + g * g * rest2
    p -= rate * m / (tl.sqrt(v) / root + eps)
    tl.store(param + at, p.to(param.dtype.element_ty), mask=inside)
    tl.store(exp_avg + at, m.to(exp_avg.dtype.element_ty), mask=inside)


def adamw_step(param, grad, exp_avg, exp_avg_sq, step, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    n = param.numel()
    if n:
        # A kernel sees dense tensors: what is not dense is updated as a copy.
        written = (param, exp_avg, exp_avg_sq)
        p, m, v = (tensor.contiguous() for tensor in written)
        step_kernel[(triton.cdiv(n, 1024),)](
            p, grad.contiguous(), m, v, n, 1 - lr * weight_decay, beta1, 1 - beta1, beta2, 1 - beta2,
            lr / (1 - beta1**step), (1 - beta2**step) ** 0.5, eps, BLOCK=1024,
        )  # fmt: skip
        for tensor, dense in zip(written, (p, m, v), strict=True):
            if dense is not tensor:
                tensor.copy_(dense)
    return param, exp_avg, exp_avg_sq
