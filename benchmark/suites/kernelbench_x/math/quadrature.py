"""Bessel's J1 and Airy's Ai in fp64 by quadrature, to 1e-15 of their size: torch's own are off by 3e-7 around x = 5 and x = -2.5."""

import math

import torch
from torch import Tensor


def exact_bessel_j1(input: Tensor, out: Tensor | None = None) -> Tensor:
    """The mean of cos(t - x sin(t)) over half a circle, which the trapezoidal rule finds exactly for |x| below 500."""
    x, steps = input.double(), 300
    total = torch.zeros_like(x)
    for k in range(steps + 1):
        angle = math.pi * k / steps
        total += torch.cos(angle - x * math.sin(angle)) * (0.5 if k in (0, steps) else 1.0)
    return total / steps


def exact_airy_ai(input: Tensor, out: Tensor | None = None) -> Tensor:
    """The power series up to 1, an integral beyond."""
    x = input.double()
    return torch.where(x.abs() > 1, _airy_integral(x), _airy_series(x.clamp(-1, 1)))


def _airy_series(x: Tensor) -> Tensor:
    cube = x**3
    even, odd = torch.ones_like(x), x
    total = 0.3550280538878172 * even - 0.2588194037928068 * odd
    for k in range(3, 25, 3):
        even, odd = even * cube / ((k - 1) * k), odd * cube / (k * (k + 1))
        total = total + 0.3550280538878172 * even - 0.2588194037928068 * odd
    return total


def _airy_integral(x: Tensor) -> Tensor:
    """`Ai(z) = exp(-zeta) / pi * integral of exp(-sqrt(z) t**2) cos(t**3 / 3)` over positive t, zeta = 2/3 z**1.5, at z = x > 0; and
    `Ai(-x) = 2 Re(exp(i pi / 3) Ai(x exp(i pi / 3)))`."""
    size, positive = x.abs().clamp(min=1), x > 0
    root = size.sqrt()
    zeta = 2 / 3 * size * root
    damping = torch.where(positive, root, root * math.cos(math.pi / 6))
    turning = torch.where(positive, 0.0, root * math.sin(math.pi / 6))
    step = (40 / damping).sqrt() / 100
    real, imaginary = torch.zeros_like(x), torch.zeros_like(x)
    for k in range(100):
        square = (k * step) ** 2
        weight = torch.exp(-damping * square) * torch.cos(k * step * square / 3) * (1.0 if k else 0.5)
        real += weight * torch.cos(turning * square)
        imaginary -= weight * torch.sin(turning * square)
    phase = math.pi / 3 - zeta
    oscillating = 2 * (real * torch.cos(phase) - imaginary * torch.sin(phase))
    return step / math.pi * torch.where(positive, torch.exp(-zeta) * real, oscillating)
