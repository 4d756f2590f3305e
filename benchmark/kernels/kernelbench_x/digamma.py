"""Digamma: upwards by psi(x) = psi(x + 1) - 1 / x until the asymptotic series holds, and by reflection for negative x."""

import torch
import triton
import triton.language as tl


@triton.jit
def digamma_kernel(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask, other=1.0).to(tl.float32)
    negative = v < 0
    # psi(v) = psi(1 - v) - pi / tan(pi v): the tangent has period 1, so that only the fraction counts.
    fraction = v - tl.floor(v + 0.5)
    angle = 3.141592653589793 * fraction
    correction = tl.where(negative, 3.141592653589793 * tl.cos(angle) / tl.sin(angle), 0.0)
    z = tl.where(negative, 1.0 - v, v)
    shift = tl.zeros((BLOCK,), dtype=tl.float32)
    for _ in tl.static_range(8):
        low = z < 8.0
        # A zero, and its sign, gives the pole.
        shift = tl.where(low, shift - 1.0 / z, shift)
        z = tl.where(low, z + 1.0, z)
    square = 1.0 / (z * z)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240))))
    value = shift + (tl.log(z) - 0.5 / z - series) - correction
    value = tl.where(negative & (fraction == 0), float("nan"), value)
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def digamma(input_tensor):
    x = input_tensor.contiguous()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        digamma_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out
