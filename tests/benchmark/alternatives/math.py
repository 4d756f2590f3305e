"""Another way for the elementary functions of Math: other identities, bits, powers of two, a DFT by matrix products."""

import math
from typing import Any

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative

LOG2E = 1.4426950408889634


def wide(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def put(result: Tensor, out: Tensor | None) -> Tensor:
    return result if out is None else out.copy_(result)


def sub(input: Tensor, other: Any, *, alpha: float = 1, out: Tensor | None = None) -> Tensor:
    return put(torch.add(input, other, alpha=-alpha), out)


def abs(input_tensor: Tensor, out: Tensor | None = None) -> Tensor:
    return put(torch.maximum(input_tensor, -input_tensor), out)


def floor(input: Tensor, out: Tensor | None = None) -> Tensor:
    nearest = torch.round(input)
    return put(torch.where(nearest > input, nearest - 1, nearest), out)


def trunc(input: Tensor, out: Tensor | None = None) -> Tensor:
    return put(torch.where(input < 0, torch.ceil(input), torch.floor(input)), out)


def reciprocal(input: Tensor, out: Tensor | None = None) -> Tensor:
    return put(torch.div(torch.ones_like(input), input), out)


def rsqrt(input: Tensor, out: Tensor | None = None) -> Tensor:
    root = torch.sqrt(wide(input))
    return put(torch.div(torch.ones_like(root), root).to(input.dtype), out)


def log(input: Tensor, out: Tensor | None = None) -> Tensor:
    return put((torch.log2(wide(input)) * math.log(2)).to(input.dtype), out)


def log1p(input: Tensor, out: Tensor | None = None) -> Tensor:
    """Kahan's correction of log(1 + x) by the rounding of the sum."""
    x = wide(input)
    total = 1 + x
    corrected = torch.log(total) * torch.where(total.isinf(), 1.0, x / (total - 1))
    return put(torch.where(total == 1, x, corrected).to(input.dtype), out)


def logit(input: Tensor, eps: float | None = None, out: Tensor | None = None) -> Tensor:
    x = wide(input) if eps is None else wide(input).clamp(eps, 1 - eps)
    return put((torch.log(x) - torch.log1p(-x)).to(input.dtype), out)


def asin(input_tensor: Tensor) -> Tensor:
    x = wide(input_tensor)
    return torch.atan2(x, torch.sqrt((1 - x) * (1 + x))).to(input_tensor.dtype)


def cos(input_tensor: Tensor) -> Tensor:
    """sin(2 x) / (2 sin(x)): 2 x is exact, and both sines are accurate relative to themselves."""
    x = wide(input_tensor)
    return torch.where(x == 0, 1.0, torch.sin(2 * x) / (2 * torch.sin(x))).to(input_tensor.dtype)


def erf(input_tensor: Tensor) -> Tensor:
    x = wide(input_tensor)
    near = x.clamp(-1, 1)
    term = series = near
    for k in range(1, 16):
        term = -term * near * near / k
        series = series + term / (2 * k + 1)
    far = torch.copysign(1 - torch.exp(-x * x) * torch.special.erfcx(x.abs()), x)
    return torch.where(x.abs() > 1, far, series * (2 / math.sqrt(math.pi))).to(input_tensor.dtype)


def signbit(input: Tensor, out: Tensor | None = None) -> Tensor:
    whole = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[input.element_size()]
    return put(input.view(whole) < 0, out)


def root(x: Tensor) -> Tensor:
    return torch.pow(wide(x), 0.5)


def sqrt_tanh(input: Tensor, out: Tensor | None = None) -> Tensor:
    below = torch.expm1(-2 * root(input))
    return put((-below / (below + 2)).to(input.dtype), out)


def sqrt_exp(input: Tensor, out: Tensor | None = None) -> Tensor:
    return put(torch.exp2(root(input) * LOG2E).to(input.dtype), out)


def exp_sqrt(input: Tensor, out: Tensor | None = None) -> Tensor:
    return put(torch.exp2(wide(input) * (LOG2E / 2)).to(input.dtype), out)


def rad2deg_sqrt(input: Tensor) -> tuple[Tensor, Tensor]:
    return (wide(input) * (180 / math.pi)).to(input.dtype), root(input).to(input.dtype)


def bitwise_and(input: Tensor, other: Any, out: Tensor | None = None) -> Tensor:
    """By De Morgan's law."""
    others = torch.bitwise_not(other) if isinstance(other, Tensor) else ~other
    return put(torch.bitwise_not(torch.bitwise_or(torch.bitwise_not(input), others)), out)


def signbit_bitwise_and(input: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    if input.dtype == torch.bool:
        return torch.zeros_like(input), bitwise_and(input.to(torch.int8), other.to(torch.int8))
    return signbit(input), bitwise_and(input.to(torch.int8), other.to(torch.int8))


def bitwise_and_binomial(
    input: Tensor, other: Tensor, total_count: Tensor, probs: Tensor | None = None, logits: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """All trials at once."""
    chance = 1 / (1 + torch.exp(-logits)) if probs is None else probs  # type: ignore[operator]
    count, chance = torch.broadcast_tensors(total_count, chance)
    trial = torch.arange(int(count.max())).reshape(-1, *[1] * count.dim())
    successes = torch.where(trial < count, torch.rand(trial.shape[0], *chance.shape) < chance, False)
    return bitwise_and(input, other), successes.sum(0).to(chance.dtype)


def dft(x: Tensor, axis: int) -> Tensor:
    """By a matrix product, in the precision of `x`; the angles are exact multiples."""
    size = x.shape[axis]
    angles = (torch.outer(torch.arange(size), torch.arange(size)) % size).double() * (2 * math.pi / size)
    matrix = torch.complex(torch.cos(angles), -torch.sin(angles)).to(x.dtype)
    return torch.matmul(x.movedim(axis, -1), matrix).movedim(-1, axis)


def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None, out: Tensor | None = None) -> Tensor:
    axes = dim if dim is not None else list(range(-len(s), 0)) if s is not None else list(range(input.dim()))
    x = input.to(torch.promote_types(input.dtype, torch.complex64))
    for axis, size in zip(axes, s or [input.shape[axis] for axis in axes], strict=True):
        x = x.narrow(axis, 0, min(size, x.shape[axis]))
        missing = list(x.shape)
        missing[axis] = size - x.shape[axis]
        x = dft(torch.cat([x, x.new_zeros(missing)], axis), axis)
    total = math.prod(x.shape[axis] for axis in axes)
    return put(x / {"forward": total, "ortho": math.sqrt(total)}.get(norm or "", 1), out)


ALTERNATIVES = {
    "sub": Alternative(sub, without=("aten::sub",)),
    "abs": Alternative(abs, without=("aten::abs",)),
    "floor": Alternative(floor, without=("aten::floor",)),
    "trunc": Alternative(trunc, without=("aten::trunc",)),
    "reciprocal": Alternative(reciprocal, without=("aten::reciprocal",)),
    "rsqrt": Alternative(rsqrt, without=("aten::rsqrt",)),
    "log": Alternative(log, without=("aten::log",)),
    "log1p": Alternative(log1p, without=("aten::log1p",)),
    "logit": Alternative(logit, without=("aten::logit",)),
    "asin": Alternative(asin, without=("aten::asin",)),
    "cos": Alternative(cos, without=("aten::cos",)),
    "erf": Alternative(erf, without=("aten::erf",)),
    "signbit": Alternative(signbit, without=("aten::signbit",)),
    "sqrt_tanh": Alternative(sqrt_tanh, without=("aten::sqrt", "aten::tanh")),
    "sqrt_exp": Alternative(sqrt_exp, without=("aten::sqrt", "aten::exp")),
    "exp_sqrt": Alternative(exp_sqrt, without=("aten::exp", "aten::sqrt")),
    "rad2deg_sqrt": Alternative(rad2deg_sqrt, without=("aten::rad2deg", "aten::sqrt")),
    "bitwise_and": Alternative(bitwise_and, without=("aten::bitwise_and",)),
    "signbit_bitwise_and": Alternative(signbit_bitwise_and, without=("aten::signbit", "aten::bitwise_and")),
    "bitwise_and_binomial": Alternative(bitwise_and_binomial, without=("aten::binomial", "aten::bitwise_and")),
    "fftn": Alternative(fftn, without=("aten::_fft_c2c",)),
}
