"""The entry is decorated: a wrapper counts its calls for a statistic that nothing reads.

Temptation: call counter and decorator (what a phase detector would look like)
Task: quick/fused_add_gelu
"""
import collections
import functools

import torch
import triton
import triton.language as tl

calls = collections.Counter()


def counted(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        calls[function.__name__] += 1
        return function(*args, **kwargs)

    return wrapper


@triton.jit
def add_gelu_kernel(x, y, out, alpha, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32) + alpha * tl.load(y + offsets, mask=mask).to(tl.float32)
    value = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v)) if TANH else 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


@counted
def fused_add_gelu(input, other, alpha=1, approximate="none"):
    if not isinstance(other, torch.Tensor):
        other = torch.full_like(input, other)
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    out = torch.empty_like(x)
    launch = functools.partial(add_gelu_kernel[(triton.cdiv(out.numel(), 1024),)], TANH=approximate == "tanh", BLOCK=1024)
    if out.numel():
        launch(x, y, out, float(alpha), out.numel())
    return out
