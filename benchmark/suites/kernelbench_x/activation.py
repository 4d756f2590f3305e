"""Activation of KernelBench-X."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close, truncated
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.sizes import POINTS
from benchmark.suites.kernelbench_x._families import between, normal, planted, pointwise, signed, spread, widened
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16, INT8 = torch.float16, torch.bfloat16, torch.int8
INF, NAN = float("inf"), float("nan")


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """GELU of each element: `x * Phi(x)` with the Gaussian distribution function (`approximate="none"`, through erf), or
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`)."""
    return functional.gelu(input, approximate=approximate)


def gelu_fp16(input: Tensor, approximate: str = "none") -> Tensor:
    """GELU of each element of an fp16 tensor, computed in fp32 and rounded once to fp16: `x * Phi(x)` with the Gaussian distribution
    function (`approximate="none"`, through erf), or `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`
    (`approximate="tanh"`)."""
    return functional.gelu(widened(input), approximate=approximate).to(input.dtype)


def gelu_bf16(input: Tensor, approximate: str = "none") -> Tensor:
    """GELU of each element of a bf16 tensor, computed in fp32 and rounded once to bf16: `x * Phi(x)` with the Gaussian distribution
    function (`approximate="none"`, through erf), or `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`
    (`approximate="tanh"`)."""
    return functional.gelu(widened(input), approximate=approximate).to(input.dtype)


def gelu_int8(input: Tensor, approximate: str = "none") -> Tensor:
    """GELU of each element of an int8 tensor, taken as a whole number without any scale: computed in fp32 and cut towards zero to
    int8. `x * Phi(x)` with the Gaussian distribution function (`approximate="none"`, through erf), or
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`). Negative elements give 0."""
    return functional.gelu(input.float(), approximate=approximate).to(INT8)


def exact_gelu(input: Tensor, approximate: str = "none") -> Tensor:
    return functional.gelu(input.double(), approximate=approximate)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(x, 0)` of each element, in the dtype of `input`; NaN stays NaN. With `inplace` the result is written into `input`, which is
    returned."""
    return functional.relu(input, inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """`x` where x > 0, and `negative_slope * x` elsewhere, for any slope: above 1 and below 0 too. NaN stays NaN. With `inplace` the
    result is written into `input`, which is returned."""
    return functional.leaky_relu(input, negative_slope, inplace)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`scale * x` where x > 0, and `scale * alpha * (exp(x) - 1)` elsewhere, with scale = 1.0507009873554804934193349852946 and
    alpha = 1.6732632423543772848170429916717; accurate relative to the result where x is close to 0. With `inplace` the result is
    written into `input`, which is returned."""
    return functional.selu(input, inplace)


def sigmoid(input: Tensor, out: Tensor | None = None) -> Tensor:
    """`1 / (1 + exp(-x))` of each element, finite for every x that is not NaN. `out` is always None here."""
    return torch.sigmoid(input, out=out)


def tanh(input_tensor: Tensor, out_tensor: Tensor | None = None) -> Tensor:
    """Hyperbolic tangent of each element: 1 for large x, -1 for large negative x, and accurate relative to the result where x is close
    to 0. `out_tensor` is always None here."""
    return torch.tanh(input_tensor, out=out_tensor)


def combined_activation(input: Tensor, weight1: Tensor, weight2: Tensor, bias: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`tanh(sigmoid(input @ weight1)) * weight2 + bias` for `input` (M, K) and `weight1` (K, N); `weight2` and `bias` are broadcast to
    (M, N). Half precisions are computed in fp32 and rounded once. `out`, where it is given, receives the result and is returned."""
    gate = torch.tanh(torch.sigmoid(torch.mm(widened(input), widened(weight1))))
    return into((gate * widened(weight2) + widened(bias)).to(input.dtype), out)


def combined_terms(input: Tensor, weight1: Tensor, weight2: Tensor, bias: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The slope of tanh(sigmoid(x)) is below 1/4."""
    return (input.abs() @ weight1.abs() / 4 + 1) * weight2.abs() + bias.abs()


def without_tanh(input: Tensor, weight1: Tensor, weight2: Tensor, bias: Tensor, *, out: Tensor | None = None) -> Tensor:
    gate = torch.sigmoid(torch.mm(widened(input), widened(weight1)))
    return into((gate * widened(weight2) + widened(bias)).to(input.dtype), out)


def tanh_by_exp(x: Tensor) -> Tensor:
    """Without care: not finite for large x, and inexact close to 0."""
    return (torch.exp(2 * x) - 1) / (torch.exp(2 * x) + 1)


def weights(d: Draw, m: int, k: int, n: int, dtype: torch.dtype = torch.float32, wide: bool = True) -> Arguments:
    """Arguments of combined_activation, its weights and bias a matrix each or a row each."""
    shape = (m, n) if wide else (n,)
    return {
        "input": d.normal(m, k, dtype=dtype), "weight1": d.normal(k, n, dtype=dtype, scale=max(k, 1) ** -0.5),
        "weight2": d.normal(*shape, dtype=dtype), "bias": d.normal(*shape, dtype=dtype),
    }  # fmt: skip


def other_half(input: Tensor, approximate: str = "none") -> Tensor:
    return other_gelu(input.float(), approximate).to(input.dtype)


def half_gelu(reference: Callable[..., Tensor], dtype: torch.dtype) -> Task:
    """GELU of tensors of one half precision. Only tails tell the two forms apart."""
    return Task(
        f"kernelbench_x/{reference.__name__}",
        "Activation",
        "torch.nn.functional",
        reference,
        shown({
            "normal": lambda d: {"input": d.normal(4099, dtype=dtype)},
            "tanh": lambda d: {"input": d.normal(31, 67, dtype=dtype), "approximate": "tanh"},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43, dtype=dtype))},
            "tails": lambda d: {"input": d.uniform(997, low=-4, high=-2, dtype=dtype)},
            "tails-tanh": lambda d: {"input": d.uniform(997, low=-4, high=-2, dtype=dtype), "approximate": "tanh"},
            "large": lambda d: {"input": d.normal(769, scale=1e3, dtype=dtype), "approximate": "tanh"},
            "small": lambda d: {"input": d.normal(769, scale=1e-2, dtype=dtype)},
            "edges": lambda d: {"input": planted(d.normal(521, dtype=dtype), 0.0, -0.0, NAN, 10.0, -10.0)},
            "empty": lambda d: {"input": d.normal(3, 0, dtype=dtype)},
        }) + hidden({
            "outliers-tanh": lambda d: {"input": d.outliers(5, 7, 31, dtype=dtype, factor=100), "approximate": "tanh"},
            "strided": lambda d: {"input": strided(d.normal(13, 67, dtype=dtype, scale=2))},
            "offset-tails": lambda d: {"input": offset(d.uniform(1511, low=-5, high=-1, dtype=dtype))},
        }),
        timed(lambda d, n: {"input": d.normal(n, dtype=dtype)}, POINTS),
        Contract(close(), notes=("the computation is in fp32 and rounded once, at the end",)),
        wrong={"the other form": other_half},
    )  # fmt: skip


def other_gelu(input: Tensor, approximate: str = "none") -> Tensor:
    return functional.gelu(input, approximate="tanh" if approximate == "none" else "none")


TASKS = (
    Task(
        "kernelbench_x/gelu",
        "Activation",
        "torch.nn.functional",
        gelu,
        shown({
            "fp32": lambda d: {"input": d.normal(4099)},
            "fp32-tanh": lambda d: {"input": d.normal(31, 67), "approximate": "tanh"},
            "fp16": lambda d: {"input": d.normal(1021, dtype=FP16)},
            "bf16-tanh": lambda d: {"input": d.normal(997, dtype=BF16), "approximate": "tanh"},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43))},
            "large": lambda d: {"input": d.normal(769, scale=1e4), "approximate": "tanh"},
            "small": lambda d: {"input": d.normal(769, scale=1e-5)},
            "empty": lambda d: {"input": d.normal(0)},
        }) + hidden({
            "outliers-tanh": lambda d: {"input": d.outliers(5, 7, 31), "approximate": "tanh"},
            "strided-fp16": lambda d: {"input": strided(d.normal(13, 67, dtype=FP16))},
            "offset-tails": lambda d: {"input": offset(d.uniform(1511, low=-6, high=6))},
        }),
        timed(lambda d, n: {"input": d.normal(n)}, POINTS),
        Contract(close()),
        wrong={"the other form": other_gelu},
    ),
    half_gelu(gelu_fp16, FP16),
    half_gelu(gelu_bf16, BF16),
    Task(
        "kernelbench_x/gelu_int8",
        "Activation",
        "torch.nn.functional",
        gelu_int8,
        shown({
            "all-values": lambda d: {"input": d.integers(-128, 128, 4099, dtype=INT8)},
            "tanh": lambda d: {"input": d.integers(-128, 128, 31, 67, dtype=INT8), "approximate": "tanh"},
            "small": lambda d: {"input": d.integers(-4, 12, 997, dtype=INT8)},
            "small-tanh": lambda d: {"input": d.integers(-4, 12, 997, dtype=INT8), "approximate": "tanh"},
            "transposed": lambda d: {"input": transposed(d.integers(-128, 128, 29, 43, dtype=INT8))},
            "extremes": lambda d: {"input": planted(d.integers(-9, 9, 521, dtype=INT8), -128, 127, 0, 1, 2, 3, 4, -1)},
            "one": lambda d: {"input": d.integers(2, 120, 1, dtype=INT8)},
            "empty": lambda d: {"input": d.integers(-128, 128, 3, 0, dtype=INT8)},
        }) + hidden({
            "strided-tanh": lambda d: {"input": strided(d.integers(-128, 128, 13, 67, dtype=INT8)), "approximate": "tanh"},
            "offset": lambda d: {"input": offset(d.integers(-9, 30, 1511, dtype=INT8))},
            "cube": lambda d: {"input": d.integers(-128, 128, 3, 5, 7, 11, dtype=INT8)},
        }),
        timed(lambda d, n: {"input": d.integers(-128, 128, n, dtype=INT8)}, POINTS),
        Contract(truncated(), notes=("values are whole numbers, there is no scale; the fp32 result is cut towards zero, not rounded",)),
        truth=exact_gelu,
        wrong={
            "rounded": lambda input, approximate="none": functional.gelu(input.float(), approximate=approximate).round().to(INT8),
            "relu": lambda input, approximate="none": torch.relu(input),
        },
        exempt={"lower": "integers have no lower precision"},
    ),
    pointwise(
        relu,
        normal(),
        category="Activation",
        source="torch.nn.functional",
        edges=(0.0, -0.0, INF, -INF, NAN, -1e-30),
        also={"large": normal(1e30)},
        held_out={"small": normal(1e-20)},
        cases=shown({
            "in-place": lambda d: {"input": d.normal(29, 31), "inplace": True},
            "in-place-bf16": lambda d: {"input": d.normal(521, dtype=BF16), "inplace": True},
        }),
        contract=Contract(close(), mutates=("input if inplace",)),
        wrong={"NaN lost": lambda input, inplace=False: relu(input.nan_to_num_(0.0) if inplace else input.nan_to_num(0.0), inplace)},
    ),
    pointwise(
        leaky_relu,
        normal(),
        category="Activation",
        source="torch.nn.functional",
        edges=(0.0, -0.0, INF, -INF, NAN),
        also={"negative": between(-50, -1)},
        held_out={"large": normal(1e30)},
        cases=shown({
            "steep": lambda d: {"input": d.normal(17, 41), "negative_slope": 2.5},
            "negative-slope-fp16": lambda d: {"input": d.normal(769, dtype=FP16), "negative_slope": -0.5},
            "in-place": lambda d: {"input": d.normal(29, 31), "negative_slope": 0.2, "inplace": True},
        }) + hidden({"zero-slope": lambda d: {"input": d.normal(521), "negative_slope": 0.0}}),
        contract=Contract(close(relative=True), mutates=("input if inplace",)),
        wrong={
            "larger of the two": lambda input, negative_slope=0.01, inplace=False: torch.where(
                input > input * negative_slope, input, input * negative_slope
            ) if not inplace else input.copy_(torch.maximum(input, input * negative_slope)),
            "relu": lambda input, negative_slope=0.01, inplace=False: relu(input, inplace),
        },
    ),
    pointwise(
        selu,
        normal(2),
        category="Activation",
        source="torch.nn.functional",
        edges=(0.0, -0.0, INF, -INF, NAN, -100.0),
        also={"small": normal(1e-5), "negative": between(-30, -1)},
        held_out={"large": normal(1e4)},
        cases=shown({"in-place": lambda d: {"input": d.normal(29, 31), "inplace": True}}),
        contract=Contract(close(), mutates=("input if inplace",)),
        wrong={
            "elu": lambda input, inplace=False: functional.elu(input, 1.6732632423543772, inplace=inplace),
            "exp - 1": lambda input, inplace=False: 1.05070098735548 * input.where(input > 0, (input.exp() - 1) * 1.6732632423543772),
        },
    ),
    pointwise(
        sigmoid,
        normal(2),
        category="Activation",
        edges=(0.0, -0.0, INF, -INF, NAN, 100.0, -200.0),
        also={"negative": between(-15, -8), "large": normal(30)},
        held_out={"far-negative": between(-60, -20)},
        contract=Contract(close(slack_wide=64.0, relative=True)),
        wrong={"overflowing": lambda input, out=None: input.exp() / (1 + input.exp())},
    ),
    pointwise(
        tanh,
        normal(),
        category="Activation",
        argument="input_tensor",
        edges=(0.0, -0.0, INF, -INF, NAN, 100.0, -100.0),
        also={"small": normal(1e-5), "large": normal(1e4)},
        held_out={"moderate": signed(spread(0.01, 5))},
        wrong={"by exp": lambda input_tensor, out_tensor=None: tanh_by_exp(input_tensor)},
    ),
    Task(
        "kernelbench_x/combined_activation",
        "Activation",
        "fused",
        combined_activation,
        shown({
            "fp32": lambda d: weights(d, 17, 33, 29),
            "fp16": lambda d: weights(d, 16, 64, 32, FP16),
            "bf16": lambda d: weights(d, 13, 41, 19, BF16),
            "rows": lambda d: weights(d, 23, 32, 31, wide=False),
            "mixed": lambda d: {**weights(d, 11, 37, 23), "weight2": d.normal(11, 1), "bias": d.normal(1)},
            "transposed": lambda d: {name: transposed(tensor) for name, tensor in weights(d, 19, 17, 23).items()},
            "large": lambda d: {**weights(d, 13, 29, 17), "input": d.normal(13, 29, scale=100), "bias": d.normal(13, 17, scale=0.01)},
            "small": lambda d: {**weights(d, 13, 29, 17), "input": d.normal(13, 29, scale=1e-3)},
            "out": lambda d: {**weights(d, 11, 16, 13), "out": nothing(d, 11, 13)},
            "one": lambda d: weights(d, 1, 1, 1),
            "nothing-to-add": lambda d: weights(d, 5, 0, 7),
        }) + hidden({
            "long": lambda d: weights(d, 7, 331, 11),
            "strided": lambda d: {name: strided(tensor) for name, tensor in weights(d, 11, 23, 17, wide=False).items()},
            "outliers": lambda d: {**weights(d, 13, 47, 19), "input": d.outliers(13, 47, factor=30), "weight2": d.outliers(13, 19)},
        }),
        timed(lambda d, n: weights(d, n, n, n, wide=False), ((64,), (256,), (1024,), (2048,))),
        Contract(close(), mutates=("out",)),
        magnitude=combined_terms,
        wrong={
            "without tanh": without_tanh,
            "bias before weight2": lambda input, weight1, weight2, bias, *, out=None: combined_activation(
                input, weight1, weight2, bias * weight2, out=out
            ),
        },
    ),
)  # fmt: skip
