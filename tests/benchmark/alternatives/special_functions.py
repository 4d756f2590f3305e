"""Another way for the special functions of Math: series, recurrences, asymptotic expansions, quadratures, in the task's own dtype."""

import math
from typing import Any

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""B_2, B_4, ..."""
ZETA_LESS_ONE = [sum(j**-k for j in range(2, 400)) + 399.5 ** (1 - k) / (k - 1) for k in range(2, 40)]
"""zeta(k) - 1 for k = 2, 3, ..., the rest of the sum by its integral."""
EULER = 0.5772156649015329


def wide(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def put(result: Tensor, out: Tensor | None) -> Tensor:
    return result if out is None else out.copy_(result)


def polynomial(x: Tensor, *coefficients: float) -> Tensor:
    """Horner's scheme, the constant first."""
    total = torch.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


def i0(input_tensor: Tensor, out: Tensor | None = None) -> Tensor:
    """The power series up to 12, the asymptotic one beyond."""
    x = wide(input_tensor).abs()
    near = x.clamp(max=12)
    term = series = torch.ones_like(x)
    for k in range(1, 40):
        term = term * (near * near / 4) / (k * k)
        series = series + term
    far, tail = x.clamp(min=12), [1.0]
    for k in range(1, 9):
        tail.append(tail[-1] * (2 * k - 1) ** 2 / (8 * k))
    asymptotic = torch.exp(far) * polynomial(1 / far, *tail) / torch.sqrt(2 * math.pi * far)
    return put(torch.where(x > 12, asymptotic, series).to(input_tensor.dtype), out)


def bessel_j1(input: Tensor, out: Tensor | None = None) -> Tensor:
    """The power series up to 4, the mean of cos(t - x sin t) over a circle beyond."""
    input = input if input.is_floating_point() else input.float()
    near = input.clamp(-4, 4)
    term = series = near / 2
    for k in range(1, 25):
        term = -term * (near * near / 4) / (k * (k + 1))
        series = series + term
    circle = torch.arange(600, dtype=torch.float64) * (2 * math.pi / 600)
    angle, sine = circle.to(input.dtype), torch.sin(circle).to(input.dtype)
    mean = torch.cos(angle - input.unsqueeze(-1) * sine).mean(-1)
    return put(torch.where(input.abs() > 4, mean, series), out)


def airy_ai(input: Tensor, out: Tensor | None = None) -> Tensor:
    """The power series up to 1. Beyond, exp(-zeta) / pi times the integral of exp(-sqrt(z) t**2) cos(t**3 / 3), for negative x at
    z = |x| exp(i pi / 3), since Ai(-x) = 2 Re(exp(i pi / 3) Ai(x exp(i pi / 3)))."""
    input = input if input.is_floating_point() else input.float()
    size = input.abs().clamp(min=1)
    root = torch.sqrt(size)
    zeta = 2 / 3 * size * root
    positive = input > 0
    damping = torch.where(positive, root, root * math.cos(math.pi / 6))
    turning = torch.where(positive, 0.0, root * math.sin(math.pi / 6))
    steps = 100
    end = torch.sqrt(40 / damping)
    t = end.unsqueeze(-1) * torch.arange(steps) / steps
    weight = torch.exp(-damping.unsqueeze(-1) * t * t) * torch.cos(t * t * t / 3)
    weight[..., 0] *= 0.5
    real = (weight * torch.cos(turning.unsqueeze(-1) * t * t)).sum(-1)
    imaginary = -(weight * torch.sin(turning.unsqueeze(-1) * t * t)).sum(-1)
    scale = end / (steps * math.pi)
    phase = math.pi / 3 - zeta
    oscillating = 2 * (real * torch.cos(phase) - imaginary * torch.sin(phase))
    far = scale * torch.where(positive, torch.exp(-zeta) * real, oscillating)
    near = input.clamp(-1, 1)
    f, g = torch.ones_like(near), near
    f_sum, g_sum = f, g
    for k in range(1, 8):
        f = f * near**3 / ((3 * k - 1) * (3 * k))
        g = g * near**3 / ((3 * k) * (3 * k + 1))
        f_sum, g_sum = f_sum + f, g_sum + g
    series = 0.3550280538878172 * f_sum - 0.2588194037928068 * g_sum
    return put(torch.where(input.abs() > 1, far, series), out)


def positive_digamma(x: Tensor) -> Tensor:
    """Upwards by the recurrence, then the asymptotic series."""
    shift = torch.zeros_like(x)
    for _ in range(8):
        low = x < 8
        shift = torch.where(low, shift - 1 / x, shift)
        x = torch.where(low, x + 1, x)
    square = 1 / (x * x)
    tail = square * polynomial(square, *(-b / (2 * k) for k, b in enumerate(BERNOULLI[:6], 1)))
    return shift + (torch.log(x) - 0.5 / x + tail)


def digamma(input_tensor: Tensor) -> Tensor:
    x = wide(input_tensor)
    negative = x < 0
    fraction = x - torch.round(x)
    reflected = positive_digamma(torch.where(negative, 1 - x, 1.0)) - math.pi / torch.tan(math.pi * fraction)
    reflected = torch.where(fraction == 0, math.nan, reflected)
    return torch.where(negative, reflected, positive_digamma(torch.where(negative, 1.0, x))).to(input_tensor.dtype)


def positive_gammaln(x: Tensor) -> Tensor:
    """Around 2 by the series in zeta(k) - 1, which is accurate near both zeros, elsewhere by the recurrence to there, or Stirling's."""
    y, product, divisor = x.clamp(max=8), torch.ones_like(x), torch.ones_like(x)
    for _ in range(6):
        high = y > 2.5
        y = torch.where(high, y - 1, y)
        product = torch.where(high, product * y, product)
    for _ in range(2):
        low = y < 1.5
        divisor = torch.where(low, divisor * y, divisor)
        y = torch.where(low, y + 1, y)
    z = y - 2
    series = z * polynomial(z, 1 - EULER, *((-1) ** k * value / k for k, value in enumerate(ZETA_LESS_ONE, 2)))
    far = x.clamp(min=8)
    square = 1 / (far * far)
    tail = polynomial(square, *(b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI[:6], 1))) / far
    stirling = (far - 0.5) * torch.log(far) - far + 0.5 * math.log(2 * math.pi) + tail
    result = torch.where(x > 8, stirling, series + torch.log(product) - torch.log(divisor))
    return torch.where(x.isinf(), math.inf, result)


def gammaln(input: Tensor, out: Tensor | None = None) -> Tensor:
    x = wide(input)
    negative = x < 0
    sine = torch.sin(math.pi * (x - torch.round(x))).abs()
    reflected = torch.log(math.pi / sine) - positive_gammaln(torch.where(negative, 1 - x, 1.0))
    result = torch.where(negative, reflected, positive_gammaln(torch.where(negative, 1.0, x)))
    return put(result.to(input.dtype), out)


def zeta(input: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """Euler and Maclaurin's formula after twelve terms."""
    x, q = torch.broadcast_tensors(input, other)
    total = sum((torch.pow(q + k, -x) for k in range(12)), torch.zeros_like(q))
    end = q + 12
    total = total + torch.pow(end, 1 - x) / (x - 1) + torch.pow(end, -x) / 2
    rising, power = x, torch.pow(end, -x - 1)
    for k, bernoulli in enumerate(BERNOULLI, 1):
        total = total + bernoulli / math.factorial(2 * k) * rising * power
        rising = rising * (x + 2 * k - 1) * (x + 2 * k)
        power = power / (end * end)
    total = torch.where(q == 0, math.inf, torch.where(x < 1, math.nan, total))
    return put(torch.where((x == 1) & (q > 0), math.inf, total), out)


def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    if n == 0:
        return put(digamma(input), out)
    x = wide(input)
    return put(((-1) ** (n + 1) * math.factorial(n) * zeta(torch.full_like(x, n + 1), x)).to(input.dtype), out)


def chebyshev_polynomial_t(input: Tensor, n: int, out: Tensor | None = None) -> Tensor:
    """By doubling: T_2k = 2 T_k**2 - 1, T_2k+1 = 2 T_k T_k+1 - x."""
    if n < 0:
        return put(torch.zeros_like(input), out)
    one, two = torch.ones_like(input), input
    for bit in bin(n)[2:]:
        middle = 2 * one * two - input
        one, two = (middle, 2 * two * two - 1) if bit == "1" else (2 * one * one - 1, middle)
    return put(one if n else torch.ones_like(input), out)


def _found(function: Any, name: str) -> Alternative:
    return Alternative(function, without=(f"aten::{name}",))


ALTERNATIVES = {
    "i0": _found(i0, "i0"),
    "bessel_j1": _found(bessel_j1, "special_bessel_j1"),
    "airy_ai": _found(airy_ai, "special_airy_ai"),
    "digamma": _found(digamma, "digamma"),
    "gammaln": _found(gammaln, "lgamma"),
    "zeta": _found(zeta, "special_zeta"),
    "polygamma": _found(polygamma, "polygamma"),
    "chebyshev_polynomial_t": _found(chebyshev_polynomial_t, "special_chebyshev_polynomial_t"),
}
