"""Math of KernelBench-X: arithmetic of two operands, and softmax."""

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.sizes import POINTS, ROWS
from benchmark.suites.kernelbench_x._families import between, planted, signed, spread, widened
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16, C64 = torch.float16, torch.bfloat16, torch.complex64
INF, NAN = float("inf"), float("nan")


def add(input: Tensor, other: Tensor | float, alpha: float = 1, out: Tensor | None = None) -> Tensor:
    """`input + alpha * other`, element by element, with broadcasting; `other` is a tensor or a number. Integers stay integers.
    `out` is always None here."""
    return into(torch.add(input, other, alpha=alpha), out)


def sub(input: Tensor, other: Tensor | float, *, alpha: float = 1, out: Tensor | None = None) -> Tensor:
    """`input - alpha * other`, element by element, with broadcasting; `other` is a tensor or a number. Integers stay integers.
    `out`, where it is given, receives the result and is returned."""
    return into(torch.sub(input, other, alpha=alpha), out)


def mul(input: Tensor, other: Tensor | float, out: Tensor | None = None) -> Tensor:
    """`input * other`, element by element, with broadcasting; `other` is a tensor or a number. The result has the dtype that torch's
    promotion gives (complex beside real numbers, floats beside integers). Integers stay integers. `out` is always None here."""
    return into(torch.mul(input, other), out)


def div(input: Tensor, other: Tensor | float, rounding_mode: str | None = None, out: Tensor | None = None) -> Tensor:
    """`input / other`, element by element, with broadcasting; `other` is a tensor or a number.

    `rounding_mode` None is true division, which of integers is fp32; "trunc" rounds the quotient towards zero and "floor" downwards,
    of integers too, which then stay integers. A float divided by zero is an infinity, or NaN for 0 / 0. `out` is always None here."""
    return into(torch.div(input, other, rounding_mode=rounding_mode), out)


def pow(input_tensor: Tensor, exponent: Tensor | float, out: Tensor | None = None) -> Tensor:
    """`input_tensor ** exponent`, element by element, with broadcasting; `exponent` is a tensor or a number. `x ** 0` is 1 for every
    x, 0 to a negative power is infinite, a negative base with an exponent that is no whole number gives NaN. Whole powers of integers
    stay integers. `out` is always None here."""
    return into(torch.pow(input_tensor, exponent), out)


def power_by_logarithm(input_tensor: Tensor, exponent: Tensor | float, out: Tensor | None = None) -> Tensor:
    """Through powers of two, whose error grows with the exponent of the result."""
    if not input_tensor.is_floating_point():
        return pow(input_tensor, exponent)
    base, power = widened(input_tensor), widened(torch.as_tensor(exponent, dtype=input_tensor.dtype, device=input_tensor.device))
    size = torch.exp2(power * torch.log2(base.abs()))
    result = torch.where((base < 0) & (power % 2 == 1), -size, size)
    result = torch.where((base < 0) & (power != power.floor()), NAN, result)
    return torch.where(power == 0, 1.0, result).to(input_tensor.dtype)


def product_terms(input: Tensor, other: Tensor | float, out: Tensor | None = None) -> Tensor:
    """Of complex numbers each part is a sum of two products."""
    result = torch.mul(input, other).abs()
    return torch.complex(result, result) if torch.mul(input, other).is_complex() else result


def rounded_sub(input: Tensor, other: Tensor | float, *, alpha: float = 1, out: Tensor | None = None) -> Tensor:
    """Both steps in the input's dtype."""
    return into(input - other * alpha, out)


def apart(draw: Draw, *shape: int, dtype: torch.dtype = torch.float32, top: int = 60) -> Arguments:
    """Dividend and divisor whose quotient stays a tenth and more away from whole numbers, so that rounding is no matter of luck."""
    divisor = torch.where(draw.uniform(*shape) < 0.5, -1.0, 1.0) * draw.uniform(*shape, low=0.5, high=8)
    quotient = draw.integers(-top, top, *shape).float() + draw.uniform(*shape, low=0.1, high=0.9)
    return {"input": (quotient * divisor).to(dtype), "other": divisor.to(dtype)}


def whole(draw: Draw, *shape: int, dtype: torch.dtype = torch.float32) -> Arguments:
    """Whole numbers, many of which are multiples of their divisor."""
    divisor = draw.integers(1, 9, *shape) * torch.where(draw.uniform(*shape) < 0.5, -1, 1)
    return {"input": draw.integers(-60, 60, *shape).to(dtype), "other": divisor.to(dtype)}


def rounded_add(input: Tensor, other: Tensor | float, alpha: float = 1, out: Tensor | None = None) -> Tensor:
    """Both steps in the input's dtype: what `x + alpha * y` of half-precision tensors does in a kernel."""
    return input + other * alpha


def softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """Softmax along `dim`, stable for large values. With `dtype` the input is converted to it first, and the result has it."""
    return torch.softmax(input, dim, dtype=dtype)


def naive_softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    powers = input.to(dtype or input.dtype).exp()
    return powers / powers.sum(dim, keepdim=True)


TASKS = (
    Task(
        "kernelbench_x/add",
        "Math",
        "torch",
        add,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "other": d.normal(4099)},
            "fp16-alpha": lambda d: {"input": d.normal(37, 41, dtype=FP16), "other": d.normal(37, 41, dtype=FP16), "alpha": 2.5},
            "bf16": lambda d: {"input": d.normal(997, dtype=BF16), "other": d.normal(997, dtype=BF16), "alpha": -1},
            "broadcast": lambda d: {"input": d.normal(17, 31), "other": d.normal(31)},
            "number": lambda d: {"input": d.normal(1009), "other": 1.5, "alpha": 2},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "other": d.normal(29, 43)},
            "large": lambda d: {"input": d.normal(769, scale=1e6), "other": d.outliers(769), "alpha": 0.5},
            "int64": lambda d: {"input": d.integers(-9999, 9999, 1021), "other": d.integers(-9999, 9999, 1021), "alpha": 3},
            "empty": lambda d: {"input": d.normal(0, 5), "other": d.normal(0, 5)},
        }) + hidden({
            "broadcast-both": lambda d: {"input": d.normal(5, 1, 33), "other": d.normal(7, 1), "alpha": 0.25},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 67, dtype=BF16)), "other": strided(d.normal(13, 67, dtype=BF16), 3)},
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "other": offset(d.outliers(2, 3, 173), 1), "alpha": -3},
        }),
        timed(lambda d, n: {"input": d.normal(n), "other": d.normal(n)}, POINTS),
        Contract(close()),
        honest=rounded_add,
    ),
    Task(
        "kernelbench_x/sub",
        "Math",
        "torch",
        sub,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "other": d.normal(4099)},
            "fp16-alpha": lambda d: {"input": d.normal(37, 41, dtype=FP16), "other": d.normal(37, 41, dtype=FP16), "alpha": 2.5},
            "bf16": lambda d: {"input": d.normal(997, dtype=BF16), "other": d.normal(997, dtype=BF16), "alpha": -1},
            "broadcast": lambda d: {"input": d.normal(31), "other": d.normal(17, 31)},
            "number": lambda d: {"input": d.normal(1009), "other": 1.5, "alpha": 2},
            "transposed": lambda d: {"input": d.normal(29, 43), "other": transposed(d.normal(29, 43))},
            "large": lambda d: {"input": d.normal(769, scale=1e6), "other": d.outliers(769), "alpha": 0.5},
            "int32": lambda d: {
                "input": d.integers(-9999, 9999, 1021, dtype=torch.int32),
                "other": d.integers(-9999, 9999, 1021, dtype=torch.int32), "alpha": 3
            },
            "out": lambda d: {"input": d.normal(23, 31), "other": d.normal(31), "alpha": 0.5, "out": nothing(d, 23, 31)},
            "infinite": lambda d: {
                "input": planted(d.normal(521), INF, INF, -INF, NAN, 1.0), "other": planted(d.normal(521), INF, 1.0, INF, 0.0, INF)
            },
            "empty": lambda d: {"input": d.normal(0, 5), "other": d.normal(0, 5)},
        }) + hidden({
            "broadcast-both": lambda d: {"input": d.normal(5, 1, 33), "other": d.normal(7, 1), "alpha": 0.25},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 67, dtype=BF16)), "other": strided(d.normal(13, 67, dtype=BF16), 3)},
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "other": offset(d.outliers(2, 3, 173), 1), "alpha": -3},
        }),
        timed(lambda d, n: {"input": d.normal(n), "other": d.normal(n)}, POINTS),
        Contract(close(), mutates=("out",)),
        honest=rounded_sub,
        wrong={
            "exchanged": lambda input, other, *, alpha=1, out=None: into(torch.as_tensor(other - input * alpha).to(input.dtype), out),
            "alpha over both": lambda input, other, *, alpha=1, out=None: into((alpha * (input - other)).to(input.dtype), out),
        },
    ),
    Task(
        "kernelbench_x/mul",
        "Math",
        "torch",
        mul,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "other": d.normal(4099)},
            "fp16": lambda d: {"input": d.normal(37, 41, dtype=FP16), "other": d.normal(37, 41, dtype=FP16)},
            "bf16": lambda d: {"input": d.normal(997, dtype=BF16), "other": d.normal(997, dtype=BF16)},
            "complex": lambda d: {"input": d.normal(1021, dtype=C64), "other": d.normal(1021, dtype=C64)},
            "complex-real": lambda d: {"input": d.normal(17, 31, dtype=C64), "other": d.normal(31)},
            "broadcast": lambda d: {"input": d.normal(17, 31), "other": d.normal(31)},
            "number": lambda d: {"input": d.normal(1009), "other": -1.5},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "other": d.normal(29, 43)},
            "large-small": lambda d: {"input": d.normal(769, scale=1e20), "other": d.normal(769, scale=1e-15)},
            "int64": lambda d: {"input": d.integers(-9999, 9999, 1021), "other": d.integers(-9999, 9999, 1021)},
            "infinite": lambda d: {
                "input": planted(d.normal(521), INF, INF, -INF, NAN, -0.0), "other": planted(d.normal(521), 2.0, 0.0, INF, 0.0, 3.0)
            },
            "empty": lambda d: {"input": d.normal(0, 5), "other": d.normal(0, 5)},
        }) + hidden({
            "broadcast-both": lambda d: {"input": d.normal(5, 1, 33), "other": d.normal(7, 1)},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 67, dtype=BF16)), "other": strided(d.normal(13, 67, dtype=BF16), 3)},
            "offset-int": lambda d: {"input": offset(d.normal(2, 3, 173)), "other": d.integers(-9, 9, 2, 3, 173, dtype=torch.int32)},
        }),
        timed(lambda d, n: {"input": d.normal(n, dtype=FP16), "other": d.normal(n, dtype=FP16)}, POINTS),
        Contract(close()),
        magnitude=product_terms,
        wrong={"conjugated": lambda input, other, out=None: (input.conj() * other).resolve_conj()},
    ),
    Task(
        "kernelbench_x/div",
        "Math",
        "torch",
        div,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "other": signed(spread(0.1, 10))(d, 4099)},
            "fp16": lambda d: {"input": d.normal(37, 41, dtype=FP16), "other": signed(spread(0.1, 10))(d, 37, 41, dtype=FP16)},
            "bf16-trunc": lambda d: {**apart(d, 997, dtype=BF16, top=9), "rounding_mode": "trunc"},
            "floor": lambda d: {**apart(d, 29, 43), "rounding_mode": "floor"},
            "floor-of-multiples": lambda d: {**whole(d, 1021), "rounding_mode": "floor"},
            "trunc-broadcast": lambda d: {
                "input": d.integers(1, 99, 17, 1).float() + 0.5, "other": -d.integers(2, 30, 31).float(), "rounding_mode": "trunc"
            },
            "number": lambda d: {"input": d.normal(1009), "other": -0.75},
            "ints": lambda d: {
                "input": d.integers(-9999, 9999, 1021, dtype=torch.int32), "other": d.integers(1, 99, 1021, dtype=torch.int32)
            },
            "ints-floor": lambda d: {**whole(d, 769, dtype=torch.int64), "rounding_mode": "floor"},
            "ints-trunc": lambda d: {**whole(d, 769, dtype=torch.int32), "rounding_mode": "trunc"},
            "zeros": lambda d: {
                "input": planted(d.normal(521), 1.0, -1.0, 0.0, INF, NAN),
                "other": planted(d.uniform(521, low=1, high=2), 0.0, 0.0, 0.0, INF)
            },
            "empty": lambda d: {"input": d.normal(0, 5), "other": d.normal(0, 5)},
        }) + hidden({
            "broadcast-both": lambda d: {"input": d.normal(5, 1, 33), "other": d.uniform(7, 1, low=1, high=9)},
            "strided-floor": lambda d: {
                name: strided(tensor) for name, tensor in apart(d, 13, 67).items()
            } | {"rounding_mode": "floor"},
            "transposed-trunc": lambda d: {
                **{name: transposed(tensor) for name, tensor in whole(d, 29, 31).items()}, "rounding_mode": "trunc"
            },
            "large": lambda d: {"input": d.normal(769, scale=1e15), "other": signed(spread(1e-9, 1e-3))(d, 769)},
        }),
        timed(lambda d, n: {"input": d.normal(n), "other": signed(spread(0.1, 10))(d, n)}, POINTS),
        Contract(close(), notes=(
            "with a rounding mode the quotient of floats is that of exact arithmetic, rounded: whole multiples give exactly the multiple "
            "(a division that is correctly rounded, as div_rn, finds it)",
        )),
        wrong={
            "towards zero": lambda input, other, rounding_mode=None, out=None: torch.div(
                input, other, rounding_mode="trunc" if rounding_mode else None
            ),
            "downwards": lambda input, other, rounding_mode=None, out=None: torch.div(
                input, other, rounding_mode="floor" if rounding_mode else None
            ),
        },
    ),
    Task(
        "kernelbench_x/pow",
        "Math",
        "torch",
        pow,
        shown({
            "fp32": lambda d: {"input_tensor": spread(0.1, 10)(d, 4099), "exponent": 2.5},
            "fp16-square": lambda d: {"input_tensor": d.normal(37, 41, dtype=FP16, scale=3), "exponent": 2},
            "bf16-cube": lambda d: {"input_tensor": d.normal(997, dtype=BF16), "exponent": 3.0},
            "root": lambda d: {"input_tensor": spread(1e-4, 1e4)(d, 29, 43), "exponent": 0.5},
            "inverse": lambda d: {"input_tensor": signed(spread(0.1, 10))(d, 769), "exponent": -1},
            "tensor": lambda d: {"input_tensor": spread(0.2, 5)(d, 17, 31), "exponent": d.normal(31, scale=2)},
            "negative-base": lambda d: {"input_tensor": signed(spread(0.2, 4))(d, 769), "exponent": d.integers(-3, 6, 769).float()},
            "transposed": lambda d: {"input_tensor": transposed(spread(0.1, 10)(d, 29, 43)), "exponent": -1.5},
            "int64": lambda d: {"input_tensor": d.integers(-30, 30, 1021), "exponent": 3},
            "edges": lambda d: {
                "input_tensor": planted(d.uniform(521, low=0.5, high=2), 0.0, 0.0, 0.0, -2.0, -2.0, INF, INF, NAN, 1.0),
                "exponent": planted(d.normal(521), 0.0, 2.0, -1.0, 0.5, 0.0, -1.0, 2.0, 0.0, 3.0),
            },
            "zeroth": lambda d: {"input_tensor": d.normal(521), "exponent": 0},
            "empty": lambda d: {"input_tensor": d.normal(0, 5), "exponent": 2},
        }) + hidden({
            "broadcast-both": lambda d: {"input_tensor": spread(0.2, 5)(d, 5, 1, 33), "exponent": d.normal(7, 1)},
            "strided-bf16": lambda d: {"input_tensor": strided(spread(0.1, 10)(d, 13, 67, dtype=BF16)), "exponent": 1.5},
            "offset-high": lambda d: {"input_tensor": offset(spread(0.5, 2)(d, 2, 3, 173)), "exponent": 17},
        }),
        timed(lambda d, n: {"input_tensor": between(0.1, 4)(d, n), "exponent": 2.5}, POINTS),
        Contract(close(relative=True)),
        honest=power_by_logarithm,
        wrong={
            "of the absolute value": lambda input_tensor, exponent, out=None: torch.pow(input_tensor.abs(), exponent),
            "by logarithm alone": lambda input_tensor, exponent, out=None: (exponent * input_tensor.log()).exp().to(input_tensor.dtype),
        },
    ),
    Task(
        "kernelbench_x/softmax",
        "Math",
        "torch",
        softmax,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": -1},
            "fp16": lambda d: {"input": d.normal(13, 67, dtype=FP16), "dim": 1},
            "bf16-axis-0": lambda d: {"input": d.normal(61, 19, dtype=BF16), "dim": 0},
            "wider": lambda d: {"input": d.normal(11, 257, dtype=FP16), "dim": -1, "dtype": torch.float32},
            "middle": lambda d: {"input": d.normal(2, 47, 7, scale=3), "dim": 1},
            "transposed": lambda d: {"input": transposed(d.normal(17, 61)), "dim": -1},
            "large": lambda d: {"input": d.normal(11, 101, scale=50, shift=1e4), "dim": -1},
            "masked": lambda d: {"input": d.normal(11, 37).masked_fill(d.uniform(11, 37) < 0.5, float("-inf")), "dim": -1},
            "empty": lambda d: {"input": d.normal(0, 5), "dim": -1},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(13, 211), "dim": 1},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 97, dtype=BF16)), "dim": -1},
            "cube": lambda d: {"input": offset(d.normal(2, 3, 2, 53, scale=10)), "dim": 3},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close("dim")),
        wrong={"no maximum subtracted": naive_softmax},
    ),
)  # fmt: skip
