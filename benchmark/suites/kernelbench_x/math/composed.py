"""Math of KernelBench-X: compositions of two elementary functions, and pairs of results."""

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.suites.kernelbench_x._families import between, normal, pointwise, signed, spread, widened
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Contract, shown

INF, NAN = float("inf"), float("nan")
STEEP = close(slack_wide=64.0, relative=True)
"""Through an exponential, whose argument's rounding counts as often as the argument is large."""
FP32_INSIDE = "half precisions are computed in fp32 and rounded once, at the end"


def sqrt_tanh(input: Tensor, out: Tensor | None = None) -> Tensor:
    """`tanh(sqrt(x))` of each element, accurate relative to the result where x is close to 0: NaN for negative values, 1 for infinity.
    Half precisions are computed in fp32 and rounded once. `out` is always None here."""
    return into(torch.tanh(torch.sqrt(widened(input))).to(input.dtype), out)


def sqrt_exp(input: Tensor, out: Tensor | None = None) -> Tensor:
    """`exp(sqrt(x))` of each element: NaN for negative values. Half precisions are computed in fp32 and rounded once. `out`, where
    it is given, receives the result and is returned."""
    return into(torch.exp(torch.sqrt(widened(input))).to(input.dtype), out)


def exp_sqrt(input: Tensor, out: Tensor | None = None) -> Tensor:
    """`sqrt(exp(x))` of each element. Half precisions are computed in fp32 and rounded once, so that `exp(x)` may be larger than
    their largest number. `out`, where it is given, receives the result and is returned."""
    return into(torch.sqrt(torch.exp(widened(input))).to(input.dtype), out)


def erfc_sqrt(input: Tensor) -> tuple[Tensor, Tensor]:
    """Two results: the complementary error function `erfc(x) = 1 - erf(x)` of each element, accurate for large x too, where it is
    small, and its square root `sqrt(x)`, which is NaN for negative values."""
    return torch.erfc(input), torch.sqrt(input)


def rad2deg_sqrt(input: Tensor) -> tuple[Tensor, Tensor]:
    """Two results: each element, an angle in radians, in degrees (`x * 180 / pi`), and its square root `sqrt(x)`, which is NaN for
    negative values."""
    return torch.rad2deg(input), torch.sqrt(input)


TASKS = (
    pointwise(
        sqrt_tanh,
        spread(1e-3, 30),
        source="fused",
        edges=(0.0, INF, NAN, -1.0),
        also={"small": spread(1e-30, 1e-8), "large": spread(100, 1e30)},
        held_out={"signed": normal(2)},
        contract=Contract(close(relative=True), notes=(FP32_INSIDE,)),
        wrong={"the other order": lambda input, out=None: torch.sqrt(torch.tanh(input))},
    ),
    pointwise(
        sqrt_exp,
        between(0, 30),
        source="fused",
        edges=(0.0, INF, NAN, -1.0),
        also={"small": spread(1e-20, 1e-2), "large": between(100, 2000)},
        held_out={"signed": normal(3)},
        cases=shown({"out": lambda d: {"input": d.uniform(29, 31, high=9), "out": nothing(d, 29, 31)}}),
        contract=Contract(STEEP, mutates=("out",), notes=(FP32_INSIDE,)),
        wrong={"the other order": lambda input, out=None: into(torch.sqrt(torch.exp(input)), out)},
    ),
    pointwise(
        exp_sqrt,
        normal(3),
        source="fused",
        edges=(0.0, -0.0, INF, -INF, NAN),
        also={"large": between(15, 21), "negative": between(-80, -10)},
        held_out={"small": normal(1e-4)},
        cases=shown({"out": lambda d: {"input": d.normal(29, 31), "out": nothing(d, 29, 31)}}),
        contract=Contract(STEEP, mutates=("out",), notes=(FP32_INSIDE,)),
        wrong={"the other order": lambda input, out=None: into(torch.exp(torch.sqrt(input)), out)},
    ),
    pointwise(
        erfc_sqrt,
        normal(1.5),
        source="fused",
        edges=(0.0, INF, NAN, -1.0),
        also={"positive": between(0, 2), "tails": between(3, 5)},
        held_out={"far-tails": between(5, 8)},
        contract=Contract(STEEP),
        wrong={
            "1 - erf": lambda input: (1 - torch.erf(input), torch.sqrt(input)),
            "root of the absolute value": lambda input: (torch.erfc(input), torch.sqrt(input.abs())),
        },
    ),
    pointwise(
        rad2deg_sqrt,
        between(0, 7),
        source="fused",
        edges=(0.0, INF, NAN, -1.0),
        also={"signed": normal(3), "large": signed(spread(1e10, 1e30))},
        held_out={"small": spread(1e-30, 1e-10)},
        contract=Contract(close(relative=True)),
        wrong={
            "to radians": lambda input: (torch.deg2rad(input), torch.sqrt(input)),
            "a rough pi": lambda input: (input * (180 / 3.1416), torch.sqrt(input)),
            "root of the absolute value": lambda input: (torch.rad2deg(input), torch.sqrt(input.abs())),
        },
    ),
)  # fmt: skip
