"""Math of KernelBench-X: special functions."""

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.sizes import POINTS
from benchmark.suites.kernelbench_x._families import FP16, FP64, Values, between, normal, planted, pointwise, signed, spread
from benchmark.suites.kernelbench_x._out import nothing
from benchmark.suites.kernelbench_x.math.quadrature import exact_airy_ai, exact_bessel_j1
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

INF, NAN = float("inf"), float("nan")
SPECIAL = close(slack_wide=64.0)
"""The library's own fp64 is the truth, and series of other lengths are honest: several roundings more than for exp."""
SCALE = "close to a zero of the function the error is measured against the mean absolute value of the whole result"


def i0(input_tensor: Tensor, out: Tensor | None = None) -> Tensor:
    """Modified Bessel function of the first kind of order 0 of each element, `sum over k of (x**2 / 4)**k / (k!)**2`; it is even,
    and infinite where it exceeds the dtype. `out` is always None here."""
    return torch.special.i0(input_tensor, out=out)


def bessel_j1(input: Tensor, out: Tensor | None = None) -> Tensor:
    """Bessel function of the first kind of order 1 of each element, odd in x; integers are converted to fp32. `out` is always None here."""
    return torch.special.bessel_j1(input, out=out)


def airy_ai(input: Tensor, out: Tensor | None = None) -> Tensor:
    """Airy function Ai of each element: it oscillates for negative x, and falls faster than exponentially for positive x, where it
    must be accurate relative to itself; integers are converted to fp32. `out` is always None here."""
    return torch.special.airy_ai(input, out=out)


def digamma(input_tensor: Tensor) -> Tensor:
    """Digamma function of each element, the derivative of log(gamma(x)): -inf for 0.0 and inf for -0.0, NaN for negative whole
    numbers, and by reflection `digamma(1 - x) - pi / tan(pi * x)` for other negative x."""
    return torch.digamma(input_tensor)


def gammaln(input: Tensor, out: Tensor | None = None) -> Tensor:
    """Logarithm of the absolute value of the gamma function of each element: infinity for 0, for negative whole numbers and for
    infinities. `out`, where it is given, receives the result and is returned."""
    return torch.special.gammaln(input, out=out)


def polygamma(n: int, input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Polygamma function of order n >= 0 of each element, the n-th derivative of the digamma function; for n >= 1 and x > 0 it is
    `(-1)**(n + 1) * n! * sum over k >= 0 of (x + k)**-(n + 1)`. Elements are positive, or zero for n >= 1, where the result is the
    infinity of that sign. `out` is always None here."""
    return torch.special.polygamma(n, input, out=out)


def zeta(input: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """Hurwitz zeta function of x (`input`) and q (`other`), element by element with broadcasting: `sum over k >= 0 of (k + q)**-x`
    for x > 1 and q > 0. It is inf for x = 1 and for q = 0, and NaN for x < 1. Both are fp32 or fp64. `out` is always None here."""
    return torch.special.zeta(input, other, out=out)


def chebyshev_polynomial_t(input: Tensor, n: int, out: Tensor | None = None) -> Tensor:
    """Chebyshev polynomial of the first kind of degree n of each element (fp32 or fp64): T_0 = 1, T_1 = x,
    T_k = 2 * x * T_(k-1) - T_(k-2), which is cos(n * arccos(x)) within -1 .. 1; 0 for negative n. `out` is always None here."""
    return torch.special.chebyshev_polynomial_t(input, n, out=out)


def stirling(input: Tensor, out: Tensor | None = None) -> Tensor:
    result = (input - 0.5) * torch.log(input) - input + 0.9189385332046727 + 1 / (12 * input)
    return result if out is None else out.copy_(result)


def off_the_poles(low: int) -> Values:
    """Negative values down to `low`, a tenth and more away from whole numbers, where the function has its poles."""
    return lambda d, *shape, dtype=torch.float32: (d.integers(low, 0, *shape).float() + d.uniform(*shape, low=0.1, high=0.9)).to(dtype)


def pair(draw: Draw, *shape: int, dtype: torch.dtype = torch.float32) -> Arguments:
    """Arguments of zeta in its ordinary domain."""
    return {"input": draw.uniform(*shape, low=1.5, high=6, dtype=dtype), "other": draw.uniform(*shape, low=0.5, high=9, dtype=dtype)}


TASKS = (
    pointwise(
        i0,
        normal(3),
        source="torch.special",
        argument="input_tensor",
        edges=(0.0, -0.0, NAN, 1.0, -1.0, 100.0),
        also={"large": between(20, 80), "small": normal(0.2)},
        held_out={"negative": between(-12, -6), "seam": between(7, 9)},
        contract=Contract(close(slack_wide=64.0, relative=True)),
        wrong={
            "order 1": lambda input_tensor, out=None: torch.special.i1(input_tensor),
            "scaled": lambda input_tensor, out=None: torch.special.i0e(input_tensor),
        },
    ),
    pointwise(
        bessel_j1,
        normal(6),
        source="torch.special",
        halves=False,
        edges=(0.0, -0.0, NAN, 5.0, -5.0),
        also={"large": signed(between(20, 200)), "small": normal(1e-4), "seam": between(4.5, 5.5)},
        held_out={"near-a-zero": between(3.7, 3.95)},
        cases=shown({"int64": lambda d: {"input": d.integers(-25, 26, 769)}}),
        contract=Contract(close(), notes=(SCALE,)),
        truth=exact_bessel_j1,
        wrong={
            "order 0": lambda input, out=None: torch.special.bessel_j0(input),
            "even": lambda input, out=None: torch.special.bessel_j1(input.abs()),
        },
    ),
    pointwise(
        airy_ai,
        normal(3),
        source="torch.special",
        halves=False,
        edges=(0.0, -0.0, NAN, 1.0, -1.0, 120.0),
        also={"oscillating": between(-20, -3), "tail": between(3, 6), "seam": between(1.5, 2.5)},
        held_out={"far-tail": between(6, 9)},
        cases=shown({"int64": lambda d: {"input": d.integers(-9, 4, 769)}}),
        contract=Contract(close(), notes=(SCALE,)),
        truth=exact_airy_ai,
        wrong={"leading term": lambda input, out=None: (-2 / 3 * input.abs() ** 1.5).exp() / (2 * torch.pi**0.5 * input.abs() ** 0.25)},
    ),
    pointwise(
        digamma,
        spread(0.1, 30),
        argument="input_tensor",
        edges=(0.0, -0.0, -1.0, -3.0, 1.0, 10.0, INF, NAN),
        also={"large": spread(1e3, 1e8), "negative": off_the_poles(-6)},
        held_out={"near-its-root": between(1.4, 1.52)},
        contract=Contract(SPECIAL, notes=(SCALE,)),
        wrong={"asymptotic": lambda input_tensor: torch.log(input_tensor) - 0.5 / input_tensor},
    ),
    pointwise(
        gammaln,
        spread(0.1, 30),
        source="torch.special",
        edges=(0.0, -0.0, -1.0, -2.0, 1.0, 2.0, INF, NAN),
        also={"large": spread(1e3, 1e8), "negative": off_the_poles(-6)},
        held_out={"between-its-roots": between(1, 2)},
        cases=shown({"out": lambda d: {"input": d.uniform(29, 31, low=0.5, high=9), "out": nothing(d, 29, 31)}}),
        contract=Contract(SPECIAL, mutates=("out",), notes=(SCALE,)),
        wrong={"Stirling": stirling},
    ),
    pointwise(
        polygamma,
        between(0.5, 12),
        source="torch.special",
        options={"n": 1},
        edges=(0.0, 1.0, 2.0, NAN),
        also={"large": spread(30, 1e6)},
        held_out={"small": between(0.05, 0.4)},
        cases=shown({
            "order-0": lambda d: {"n": 0, "input": d.uniform(769, low=0.2, high=20)},
            "order-2": lambda d: {"n": 2, "input": planted(d.uniform(769, low=0.5, high=9), 0.0)},
            "order-3-fp16": lambda d: {"n": 3, "input": d.uniform(769, low=0.7, high=6, dtype=FP16)},
        }) + hidden({"order-5": lambda d: {"n": 5, "input": d.uniform(769, low=1, high=4)}}),
        contract=Contract(SPECIAL),
        wrong={
            "sign of n": lambda n, input, out=None: torch.special.polygamma(n, input).abs(),
            "few terms": lambda n, input, out=None: torch.stack([1 / (input + k) ** 2 for k in range(20)]).sum(0),
        },
    ),
    Task(
        "kernelbench_x/zeta",
        "Math",
        "torch.special",
        zeta,
        shown({
            "fp32": lambda d: pair(d, 2053),
            "fp64": lambda d: pair(d, 769, dtype=FP64),
            "broadcast": lambda d: {"input": d.uniform(29, 1, low=1.5, high=5), "other": d.uniform(37, low=0.5, high=9)},
            "near-the-pole": lambda d: {"input": d.uniform(769, low=1.05, high=1.2), "other": d.uniform(769, low=0.5, high=3)},
            "riemann": lambda d: {"input": d.uniform(521, low=1.5, high=20), "other": d.uniform(1, low=1, high=1)},
            "large-q": lambda d: {"input": d.uniform(521, low=2, high=3), "other": d.uniform(521, low=50, high=1e4)},
            "edges": lambda d: {
                "input": planted(d.uniform(521, low=2, high=4), 1.0, 0.5, 2.0, float("nan"), 2.0),
                "other": planted(d.uniform(521, low=1, high=2), 2.0, 2.0, 0.0, 1.0, float("nan")),
            },
            "transposed": lambda d: {"input": transposed(d.uniform(29, 43, low=2, high=5)), "other": d.uniform(29, 43, low=0.5, high=9)},
            "empty": lambda d: pair(d, 0, 5),
        }) + hidden({
            "strided": lambda d: {
                "input": strided(d.uniform(13, 67, low=2, high=5)), "other": strided(d.uniform(13, 67, low=0.5, high=4), 3)
            },
            "offset": lambda d: {"input": offset(d.uniform(2, 3, 173, low=2, high=5)), "other": d.uniform(173, low=0.7, high=4)},
            "high-powers": lambda d: {"input": d.uniform(521, low=6, high=12), "other": d.uniform(521, low=1, high=3)},
        }),
        timed(lambda d, n: pair(d, n), POINTS),
        Contract(SPECIAL),
        wrong={
            "riemann only": lambda input, other, out=None: torch.special.zeta(input, torch.ones_like(other)),
            "exchanged": lambda input, other, out=None: torch.special.zeta(other, input),
        },
    ),
    pointwise(
        chebyshev_polynomial_t,
        between(-1, 1),
        source="torch.special",
        options={"n": 5},
        halves=False,
        edges=(1.0, -1.0, 0.0),
        also={"outside": normal(2)},
        held_out={"near-one": between(0.99, 1)},
        cases=shown({
            "degree-0": lambda d: {"input": d.normal(521), "n": 0},
            "degree-1-fp64": lambda d: {"input": d.normal(521, dtype=FP64), "n": 1},
            "degree-4-fp64": lambda d: {"input": d.uniform(769, low=-1, high=1, dtype=FP64), "n": 4},
            "degree-11": lambda d: {"input": d.uniform(769, low=-1, high=1), "n": 11},
        }) + hidden({
            "degree-24": lambda d: {"input": d.uniform(769, low=-1, high=1), "n": 24},
            "degree-8-outside": lambda d: {"input": d.normal(769, scale=1.5), "n": 8},
            "negative-degree": lambda d: {"input": d.normal(521), "n": -1},
        }),
        contract=Contract(SPECIAL, notes=(SCALE,)),
        wrong={
            "second kind": lambda input, n, out=None: torch.special.chebyshev_polynomial_u(input, n),
            "within -1 .. 1 only": lambda input, n, out=None: torch.cos(n * torch.acos(input)),
        },
    ),
)  # fmt: skip
