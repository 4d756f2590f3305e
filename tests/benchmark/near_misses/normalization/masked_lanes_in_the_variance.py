"""Lanes behind the end hold 0, less the mean, and their squares are counted.

Task: kernelbench_x/batch_norm.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def channel(
    x, running_mean, running_var, weight, bias, y, count, channels, inner, xn, xc, xs, momentum, eps,
    TRAINING: tl.constexpr, TRACKED: tl.constexpr, HAS_WEIGHT: tl.constexpr, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    c = tl.program_id(0).to(tl.int64)
    lanes = tl.arange(0, BLOCK)
    if TRAINING:
        total = tl.zeros((BLOCK,), dtype=tl.float32)
        for start in range(0, count, BLOCK):
            i = (start + lanes).to(tl.int64)
            total += tl.load(x + i // inner * xn + c * xc + i % inner * xs, mask=i < count, other=0.0).to(tl.float32)
        mean = tl.sum(total, axis=0) / count
        squares = tl.zeros((BLOCK,), dtype=tl.float32)
        for start in range(0, count, BLOCK):
            i = (start + lanes).to(tl.int64)
            v = tl.load(x + i // inner * xn + c * xc + i % inner * xs, mask=i < count, other=0.0).to(tl.float32)
            centred = v - mean
            squares += centred * centred
        var = tl.sum(squares, axis=0) / count
        if TRACKED:
            old_mean, old_var = tl.load(running_mean + c), tl.load(running_var + c)
            tl.store(running_mean + c, (1.0 - momentum) * old_mean + momentum * mean)
            tl.store(running_var + c, (1.0 - momentum) * old_var + momentum * (var * count / (count - 1)))
    else:
        mean, var = tl.load(running_mean + c).to(tl.float32), tl.load(running_var + c).to(tl.float32)
    scale = 1.0 / tl.sqrt_rn(var + eps)
    if HAS_WEIGHT:
        scale *= tl.load(weight + c).to(tl.float32)
    shift = 0.0
    if HAS_BIAS:
        shift = tl.load(bias + c).to(tl.float32)
    for start in range(0, count, BLOCK):
        i = (start + lanes).to(tl.int64)
        v = tl.load(x + i // inner * xn + c * xc + i % inner * xs, mask=i < count, other=0.0).to(tl.float32)
        place = y + (i // inner * channels + c) * inner + i % inner
        tl.store(place, ((v - mean) * scale + shift).to(y.dtype.element_ty), mask=i < count)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    x = input.reshape(*input.shape[:2], -1)
    batch, channels, inner = x.shape
    y = torch.empty(input.shape, dtype=input.dtype, device=input.device)
    unused = y
    channel[(channels,)](
        x, unused if running_mean is None else running_mean, unused if running_var is None else running_var,
        unused if weight is None else weight.contiguous(), unused if bias is None else bias.contiguous(), y,
        batch * inner, channels, inner, *x.stride(), float(momentum), float(eps),
        TRAINING=training, TRACKED=running_mean is not None, HAS_WEIGHT=weight is not None, HAS_BIAS=bias is not None, BLOCK=1024,
    )  # fmt: skip
    return y
