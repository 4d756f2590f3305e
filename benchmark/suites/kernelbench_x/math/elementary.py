"""Math of KernelBench-X: elementary functions of one tensor."""

import torch
from torch import Tensor

from benchmark.checkers import close, exact
from benchmark.suites.kernelbench_x._families import FP16, between, normal, pointwise, signed, spread, widened
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Contract, shown

INF, NAN = float("inf"), float("nan")


def abs(input_tensor: Tensor, out: Tensor | None = None) -> Tensor:
    """Absolute value of each element, of floats and of integers. `out` is always None here."""
    return torch.abs(input_tensor, out=out)


def floor(input: Tensor, out: Tensor | None = None) -> Tensor:
    """The largest whole number that is not above the element, in the dtype of `input` (floats only); infinities and NaN stay as
    they are. `out` is always None here."""
    return torch.floor(input, out=out)


def trunc(input: Tensor, out: Tensor | None = None) -> Tensor:
    """Each element without its fraction, rounded towards zero, in the dtype of `input` (floats only); infinities and NaN stay as
    they are. `out` is always None here."""
    return torch.trunc(input, out=out)


def reciprocal(input: Tensor, out: Tensor | None = None) -> Tensor:
    """`1 / x` of each element: infinity of the same sign for a zero (-inf for -0.0), zero for an infinity. `out` is always None
    here."""
    return torch.reciprocal(input, out=out)


def rsqrt(input: Tensor, out: Tensor | None = None) -> Tensor:
    """`1 / sqrt(x)` of each element: infinity for 0, 0 for infinity, NaN for negative values. `out` is always None here."""
    return torch.rsqrt(input, out=out)


def log(input: Tensor, out: Tensor | None = None) -> Tensor:
    """Natural logarithm of each element: -inf for 0, NaN for negative values. `out` is always None here."""
    return torch.log(input, out=out)


def log1p(input: Tensor, out: Tensor | None = None) -> Tensor:
    """`log(1 + x)` of each element, accurate where x is close to 0: -inf for -1, NaN below it. `out` is always None here."""
    return torch.log1p(input, out=out)


def logit(input: Tensor, eps: float | None = None, out: Tensor | None = None) -> Tensor:
    """`log(x / (1 - x))` of each element. With `eps`, x is first clamped to `eps .. 1 - eps`; without, 0 gives -inf, 1 gives inf
    and everything outside 0 .. 1 gives NaN. Half precisions are computed in fp32 and rounded once. `out`, where it is given,
    receives the result and is returned."""
    return into(torch.logit(widened(input), eps).to(input.dtype), out)


def asin(input_tensor: Tensor) -> Tensor:
    """Arcsine of each element in radians: NaN outside -1 .. 1."""
    return torch.asin(input_tensor)


def cos(input_tensor: Tensor) -> Tensor:
    """Cosine of each element, an angle in radians, accurate for large angles too: NaN for infinities."""
    return torch.cos(input_tensor)


def erf(input_tensor: Tensor) -> Tensor:
    """Error function of each element, `2 / sqrt(pi) * integral of exp(-t**2) from 0 to x`, accurate relative to the result where x
    is close to 0."""
    return torch.erf(input_tensor)


def signbit(input: Tensor, out: Tensor | None = None) -> Tensor:
    """Whether the sign bit of each element is set, as bool: True for negative values and for -0.0. `out` is always None here."""
    return torch.signbit(input, out=out)


def short_erf(input_tensor: Tensor) -> Tensor:
    """Two terms of the series."""
    return (2 * torch.pi**-0.5 * (input_tensor - input_tensor**3 / 3)).clamp(-1, 1)


TASKS = (
    pointwise(
        abs,
        normal(3),
        argument="input_tensor",
        edges=(0.0, -0.0, INF, -INF, NAN, -1e-30, -1e30),
        also={"large": normal(1e30)},
        held_out={"small": normal(1e-30)},
        cases=shown({"int32": lambda d: {"input_tensor": d.integers(-99999, 99999, 1021, dtype=torch.int32)}}),
        contract=Contract(exact(), notes=("NaN stays NaN; zeros of both signs count as equal",)),
        wrong={"relu": lambda input_tensor, out=None: torch.relu(input_tensor)},
    ),
    pointwise(
        floor,
        normal(20),
        edges=(0.0, -0.0, -0.5, 0.5, 2.0, -2.0, INF, -INF, NAN),
        also={"large": normal(1e4), "near-whole": lambda d, *s: d.integers(-9, 9, *s).float() + d.uniform(*s, low=-1e-6, high=1e-6)},
        held_out={"small": between(-1, 1)},
        contract=Contract(exact(), notes=("NaN stays NaN",)),
        wrong={
            "towards zero": lambda input, out=None: torch.trunc(input),
            "round": lambda input, out=None: torch.round(input),
        },
    ),
    pointwise(
        trunc,
        normal(20),
        edges=(0.0, -0.0, -0.5, 0.5, 2.0, -2.0, 3e9, -3e9, INF, -INF, NAN),
        also={"large": normal(1e4), "beyond-int32": normal(1e11)},
        held_out={"near-whole": lambda d, *s: d.integers(-9, 9, *s).float() + d.uniform(*s, low=-1e-6, high=1e-6)},
        contract=Contract(exact(), notes=("NaN stays NaN",)),
        wrong={"floor": lambda input, out=None: torch.floor(input), "through int32": lambda input, out=None: input.int().to(input.dtype)},
    ),
    pointwise(
        reciprocal,
        signed(spread(0.05, 20)),
        argument="input",
        edges=(0.0, -0.0, INF, -INF, NAN),
        also={"large": signed(spread(1e10, 1e30)), "small": signed(spread(1e-30, 1e-10))},
        held_out={"wide": signed(spread(1e-3, 1e3))},
        contract=Contract(close(relative=True)),
        wrong={"guarded": lambda input, out=None: 1 / (input + 1e-3)},
    ),
    pointwise(
        rsqrt,
        spread(0.05, 20),
        edges=(0.0, INF, NAN, -1.0, 1.0),
        also={"large": spread(1e10, 1e30), "small": spread(1e-30, 1e-10)},
        held_out={"wide": spread(1e-3, 1e3)},
        contract=Contract(close(relative=True)),
        wrong={
            "guarded": lambda input, out=None: torch.rsqrt(input + 1e-3),
            "of the absolute value": lambda input, out=None: torch.rsqrt(input.abs()),
        },
    ),
    pointwise(
        log,
        spread(1e-3, 1e3),
        edges=(0.0, 1.0, INF, NAN, -1.0, 1e30, 1e-30),
        also={"large": spread(1e10, 1e30), "small": spread(1e-30, 1e-10)},
        held_out={"around-one": between(0.25, 4)},
        wrong={
            "guarded": lambda input, out=None: torch.log(input + 1e-3),
            "to base 2": lambda input, out=None: torch.log2(input),
        },
    ),
    pointwise(
        log1p,
        between(-0.9, 3),
        edges=(0.0, -1.0, -2.0, INF, NAN, 1e30, -1e-30),
        also={"small": normal(1e-4), "large": spread(1e3, 1e30)},
        held_out={"tiny": normal(1e-9)},
        wrong={"log of the sum": lambda input, out=None: torch.log(1 + input)},
    ),
    pointwise(
        logit,
        between(0.02, 0.98),
        edges=(0.0, 1.0, 0.5, -0.1, 1.1, NAN),
        also={"small": spread(1e-20, 1e-3)},
        held_out={"near-a-half": between(0.49, 0.51)},
        cases=shown({
            "eps": lambda d: {"input": d.uniform(17, 41), "eps": 0.125},
            "eps-outside": lambda d: {"input": d.normal(769, scale=2), "eps": 2.0**-10},
            "eps-fp16": lambda d: {"input": d.uniform(769, dtype=FP16), "eps": 0.25},
            "out": lambda d: {"input": d.uniform(29, 31, low=0.1, high=0.9), "out": nothing(d, 29, 31)},
        }),
        contract=Contract(close(), mutates=("out",)),
        wrong={"never clamped": lambda input, eps=None, out=None: torch.logit(input, out=out)},
    ),
    pointwise(
        asin,
        signed(between(0.1, 1)),
        argument="input_tensor",
        edges=(0.0, -0.0, 1.0, -1.0, 1.5, -2.0, INF, NAN),
        also={"small": normal(1e-4), "near-one": between(0.99, 1)},
        held_out={"near-minus-one": between(-1, -0.999)},
        wrong={"clamped": lambda input_tensor: torch.asin(input_tensor.clamp(-1, 1))},
    ),
    pointwise(
        cos,
        normal(3),
        argument="input_tensor",
        edges=(0.0, -0.0, INF, -INF, NAN),
        also={"large": normal(1e3), "larger": normal(1e5)},
        held_out={"near-a-zero": between(1.55, 1.59)},
        wrong={"not reduced": lambda input_tensor: 1 - input_tensor**2 / 2 + input_tensor**4 / 24},
    ),
    pointwise(
        erf,
        normal(1.5),
        argument="input_tensor",
        edges=(0.0, -0.0, INF, -INF, NAN, 5.0, -5.0),
        also={"small": normal(1e-4)},
        held_out={"wide": normal(30)},
        wrong={"short series": short_erf},
    ),
    pointwise(
        signbit,
        normal(),
        edges=(0.0, -0.0, INF, -INF, -1e-30, 1e-30),
        also={"large": normal(1e30)},
        held_out={"zeros": signed(between(0.0, 0.0))},
        cases=shown({"int8": lambda d: {"input": d.integers(-128, 128, 1021, dtype=torch.int8)}}),
        contract=Contract(exact()),
        wrong={"below zero": lambda input, out=None: input < 0},
        exempt={"lower": "the sign survives every rounding"},
    ),
)  # fmt: skip
