"""The truth of special functions is right: quadratures against power series in 50 digits."""

from collections.abc import Callable
from decimal import Decimal, localcontext

import pytest
import torch

from benchmark.suites.kernelbench_x.math.quadrature import exact_airy_ai, exact_bessel_j1

AI_0 = Decimal("0.35502805388781723926006318600418317639797917419918")
AI_SLOPE = Decimal("0.25881940379280679840518356018920396347909113835493")


def bessel_j1(x: Decimal) -> Decimal:
    term = total = x / 2
    for k in range(1, 150):
        term = -term * x * x / (4 * k * (k + 1))
        total += term
    return total


def airy_ai(x: Decimal) -> Decimal:
    even, odd = AI_0, AI_SLOPE * x
    total = even - odd
    for k in range(3, 450, 3):
        even, odd = even * x**3 / ((k - 1) * k), odd * x**3 / (k * (k + 1))
        total += even - odd
    return total


CASES = [
    *((exact_bessel_j1, bessel_j1, x) for x in (0.001, 0.5, 3.9, 4.9, 5.1, 7.5, -12.5, 20.0)),
    *((exact_airy_ai, airy_ai, x) for x in (0.0, 0.5, 1.5, 2.05, 3.0, -0.5, -1.5, -2.5, -4.0, -9.0)),
]


@pytest.mark.parametrize(("quadrature", "series", "x"), CASES)
def test_fp64_truth_agrees_with_a_series_in_50_digits(
    quadrature: Callable[[torch.Tensor], torch.Tensor], series: Callable[[Decimal], Decimal], x: float
) -> None:
    with localcontext() as context:
        context.prec = 50
        truth = float(series(Decimal(x)))
    assert float(quadrature(torch.tensor([x], dtype=torch.float64))) == pytest.approx(truth, rel=1e-14, abs=2e-15)
