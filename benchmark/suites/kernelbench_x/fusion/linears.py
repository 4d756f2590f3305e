"""Fusion of KernelBench-X: linear layers with what follows them."""

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close, dropout
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.suites.kernelbench_x.fusion._cases import shared
from benchmark.suites.kernelbench_x.fusion._norm_terms import through_norm
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16, FP64 = torch.float16, torch.bfloat16, torch.float64
INPLACE_NOTE = "`inplace` concerns the product's own result, which nobody else sees: no argument is written."


def drawn(
    d: Draw, shape: tuple[int, ...], rows: int, bias: bool = True, dtype: torch.dtype = torch.float32, scale: float = 1.0
) -> Arguments:
    """Inputs, weights scaled so that results have about the size of the inputs, and biases."""
    weight = d.normal(rows, shape[-1], dtype=dtype, scale=shape[-1] ** -0.5)
    biases = {"bias": d.normal(rows, dtype=dtype, scale=0.5 * scale)} if bias else {}
    return {"input": d.normal(*shape, dtype=dtype, scale=scale), "weight": weight} | biases


def whole(d: Draw) -> Arguments:
    """Small whole numbers, so that every sum is exact."""
    return {"input": d.ties(7, 13, levels=5) - 2, "weight": d.ties(11, 13) - 1, "bias": d.ties(11)}


SHOWN = {
    "fp32": lambda d: drawn(d, (17, 65), 33),
    "fp16": lambda d: drawn(d, (32, 128), 32, dtype=FP16),
    "bf16-no-bias": lambda d: drawn(d, (31, 67), 29, bias=False, dtype=BF16),
    "batch": lambda d: drawn(d, (2, 5, 37), 11),
    "transposed": lambda d: {"input": transposed(d.normal(19, 41)), "weight": transposed(d.normal(23, 41, scale=0.15))},
    "vector": lambda d: drawn(d, (71,), 17),
    "large": lambda d: drawn(d, (9, 53), 21, scale=30),
    "small": lambda d: drawn(d, (9, 53), 21, scale=1e-4),
    "whole": whole,
    "nothing": lambda d: drawn(d, (0, 5), 3),
}
HIDDEN = {
    "strided-bf16": lambda d: drawn(d, (13, 83), 23, dtype=BF16) | {"input": strided(d.normal(13, 83, dtype=BF16))},
    "offset-long": lambda d: drawn(d, (5, 1021), 3) | {"input": offset(d.normal(5, 1021))},
    "outliers": lambda d: drawn(d, (11, 61), 13) | {"input": d.outliers(11, 61, factor=30)},
}
SIZES = ((64, 256, 256), (1024, 1024, 1024), (4096, 2048, 4096), (8192, 4096, 4096))


cases = partial(shared, SHOWN, HIDDEN)
"""The common layers with further options of a task by case, and cases of its own."""


def layers(d: Draw, rows: int, inner: int, columns: int) -> Arguments:
    return drawn(d, (rows, inner), columns, dtype=FP16)


def terms(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return functional.linear(input.abs(), weight.abs(), None if bias is None else bias.abs())


def fused_elu_linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """ELU (`y` where `y > 0`, else `alpha * (exp(y) - 1)`) of `y = input @ weight.T + bias`: `input` (..., K), `weight` (N, K),
    `bias` (N,) or None. `inplace` changes nothing that the caller sees."""
    return functional.elu(functional.linear(input, weight, bias), alpha, inplace)


def elu_terms(input: Tensor, weight: Tensor, bias: Tensor | None = None, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Those of the product by the slope at it."""
    slope = functional.linear(input, weight, bias).clamp(max=0).exp() * max(1.0, abs(alpha))
    return terms(input, weight, bias) * slope


def scaled_elu(alpha: float = 1.0, inplace: bool = False, **rest: Any) -> Tensor:
    """`alpha` scales the argument of the exponential."""
    y = functional.linear(**rest)
    return torch.where(y > 0, y, torch.expm1(alpha * y))


def fused_tanh_linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`tanh(input @ weight.T + bias)`: `input` (..., K), `weight` (N, K), `bias` (N,) or None."""
    return torch.tanh(functional.linear(input, weight, bias))


def fused_softplus_linear(input: Tensor, weight: Tensor, bias: Tensor | None = None, beta: float = 1, threshold: float = 20) -> Tensor:
    """Softplus of `y = input @ weight.T + bias` (`input` (..., K), `weight` (N, K), `bias` (N,) or None):
    `log(1 + exp(beta * y)) / beta`, and `y` itself where `beta * y > threshold`. Small values keep their digits, as with log1p."""
    return functional.softplus(functional.linear(input, weight, bias), beta, threshold)


def softplus_terms(input: Tensor, weight: Tensor, bias: Tensor | None = None, beta: float = 1, threshold: float = 20) -> Tensor:
    return terms(input, weight, bias) * torch.sigmoid(beta * functional.linear(input, weight, bias))


def threshold_of_y(input: Tensor, weight: Tensor, bias: Tensor | None = None, beta: float = 1, threshold: float = 20) -> Tensor:
    """The threshold compared with `y`, not with `beta * y`."""
    y = functional.linear(input, weight, bias)
    return torch.where(y > threshold, y, torch.log1p(torch.exp(beta * y)) / beta)


def fused_log_softmax_linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, dim: int = -1, dtype: torch.dtype | None = None
) -> Tensor:
    """`y - max - log(sum(exp(y - max)))` along `dim` of `y = input @ weight.T + bias`: `input` (..., K), `weight` (N, K), `bias`
    (N,) or None. With `dtype` the product is converted to it first, and the result has it."""
    return functional.log_softmax(functional.linear(input, weight, bias), dim, dtype=dtype)


def honest_log_softmax(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, dim: int = -1, dtype: torch.dtype | None = None
) -> Tensor:
    """The product is not rounded to half precision on the way to `dtype`."""
    wide = torch.promote_types(input.dtype, torch.float32)
    result = fused_log_softmax_linear(input.to(wide), weight.to(wide), None if bias is None else bias.to(wide), dim, dtype)
    return result.to(dtype or input.dtype)


def log_terms(input: Tensor, weight: Tensor, bias: Tensor | None = None, dim: int = -1, dtype: torch.dtype | None = None) -> Tensor:
    of_y = terms(input, weight, bias)
    return of_y + (torch.softmax(functional.linear(input, weight, bias), dim) * of_y).sum(dim, keepdim=True)


def without_maximum(input: Tensor, weight: Tensor, bias: Tensor | None = None, dim: int = -1, dtype: torch.dtype | None = None) -> Tensor:
    y = functional.linear(input, weight, bias).to(dtype or input.dtype)
    return y - y.exp().sum(dim, keepdim=True).log()


def fused_layer_norm_relu_linear(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    normalized_shape: int | list[int] | None = None,
    eps: float = 1e-5,
    elementwise_affine: bool = True,
) -> Tensor:
    """`r = max(0, input @ weight.T + bias)` (`input` (..., K), `weight` (N, K), `bias` (N,) or None), then `(r - mean) / sqrt(var +
    eps)` with the biased variance over the last axes, whose sizes `normalized_shape` gives (a number for the last one; None is
    the last axis). There are no learned scales, so that `elementwise_affine` (scales as they begin: 1 and 0) changes nothing."""
    result = functional.relu(functional.linear(input, weight, bias))
    if normalized_shape is None:
        normalized_shape = result.shape[-1]
    return functional.layer_norm(result, [normalized_shape] if isinstance(normalized_shape, int) else normalized_shape, eps=eps)


def normed_terms(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    normalized_shape: Any = None,
    eps: float = 1e-5,
    elementwise_affine: bool = True,
) -> Tensor:
    axes = (-1,) if normalized_shape is None or isinstance(normalized_shape, int) else tuple(range(-len(normalized_shape), 0))
    return through_norm(functional.relu(functional.linear(input, weight, bias)), terms(input, weight, bias), axes, eps)


def norm_then_relu(normalized_shape: Any = None, eps: float = 1e-5, elementwise_affine: bool = True, **rest: Any) -> Tensor:
    y = functional.linear(**rest)
    return functional.relu(functional.layer_norm(y, y.shape[-1:] if normalized_shape is None else normalized_shape, eps=eps))


def without_eps(eps: float = 0.0, **rest: Any) -> Tensor:
    return fused_layer_norm_relu_linear(**rest, eps=1e-30)


def fused_dropout_sigmoid_linear(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Dropout of `sigmoid(input @ weight.T + bias)`: `input` (..., K), `weight` (N, K), `bias` (N,) or None. In training each element
    is 0 with probability `p`, independently and anew in each call, else it is divided by `1 - p`; otherwise all are kept as they
    are. `inplace` changes nothing that the caller sees."""
    return functional.dropout(torch.sigmoid(functional.linear(input, weight, bias)), p, training, inplace)


def kept_and_dropped(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, p: float = 0.5, training: bool = True, inplace: bool = False
) -> tuple[Tensor, Tensor]:
    value = torch.sigmoid(functional.linear(input, weight, bias))
    return (value / (1 - p) if training and p < 1 else value), torch.zeros_like(value)


def sigmoid_terms(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    kept, _ = kept_and_dropped(input, weight, bias, p, training)
    value = torch.sigmoid(functional.linear(input, weight, bias))
    return terms(input, weight, bias) * kept * (1 - value)


def everything_kept(p: float = 0.5, training: bool = True, **rest: Any) -> Tensor:
    return fused_dropout_sigmoid_linear(**rest, training=False)


def not_rescaled(p: float = 0.5, training: bool = True, **rest: Any) -> Tensor:
    value = fused_dropout_sigmoid_linear(**rest, training=False)
    return value * (torch.rand(value.shape, device=value.device) >= p) if training else value


def whole_rows(p: float = 0.5, training: bool = True, **rest: Any) -> Tensor:
    """One mask for all rows."""
    value = fused_dropout_sigmoid_linear(**rest, training=False)
    return value * functional.dropout(torch.ones_like(value[:1]), p, training)


TASKS = (
    Task(
        "kernelbench_x/fused_elu_linear",
        "Fusion",
        "fused",
        fused_elu_linear,
        cases({"fp16": {"alpha": 0.5}, "batch": {"alpha": 2.0, "inplace": True}, "outliers": {"alpha": -1.5}}),
        timed(layers, SIZES),
        Contract(close(), notes=(INPLACE_NOTE,)),
        honest=rounded_once(fused_elu_linear),
        magnitude=elu_terms,
        wrong={"alpha inside": scaled_elu},
    ),
    Task(
        "kernelbench_x/fused_tanh_linear",
        "Fusion",
        "fused",
        fused_tanh_linear,
        cases(),
        timed(layers, SIZES),
        Contract(close()),
        honest=rounded_once(fused_tanh_linear),
        magnitude=lambda **layer: terms(**layer) * (1 - fused_tanh_linear(**layer).square()),
        wrong={"no bias": lambda input, weight, bias=None: fused_tanh_linear(input, weight)},
    ),
    Task(
        "kernelbench_x/fused_softplus_linear",
        "Fusion",
        "fused",
        fused_softplus_linear,
        cases({"fp16": {"beta": 2}, "batch": {"beta": 0.5}, "whole": {"beta": 2, "threshold": 3}, "outliers": {"beta": 0.25}}),
        timed(layers, SIZES),
        Contract(close()),
        honest=rounded_once(fused_softplus_linear),
        magnitude=softplus_terms,
        wrong={"threshold of y": threshold_of_y},
    ),
    Task(
        "kernelbench_x/fused_log_softmax_linear",
        "Fusion",
        "fused",
        fused_log_softmax_linear,
        cases(
            {"batch": {"dim": 1}, "fp16": {"dtype": torch.float32}, "outliers": {"dim": 0}},
            fp64=lambda d: drawn(d, (7, 31), 13, dtype=FP64),
        ),
        timed(layers, SIZES),
        Contract(close(), notes=(
            "The product is accumulated in float32, or in float64 for float64 inputs, and goes into the softmax without being rounded.",
        )),
        honest=honest_log_softmax,
        magnitude=log_terms,
        wrong={"no maximum subtracted": without_maximum},
    ),
    Task(
        "kernelbench_x/fused_layer_norm_relu_linear",
        "Fusion",
        "fused",
        fused_layer_norm_relu_linear,
        cases({
            "fp32": {"normalized_shape": 33}, "batch": {"normalized_shape": [5, 11], "eps": 0.1}, "vector": {"elementwise_affine": False},
            "whole": {"normalized_shape": [11]}, "outliers": {"eps": 1e-3},
        }),
        timed(layers, SIZES),
        Contract(close()),
        honest=rounded_once(fused_layer_norm_relu_linear),
        magnitude=normed_terms,
        wrong={"no eps": without_eps},
    ),
    Task(
        "kernelbench_x/fused_dropout_sigmoid_linear",
        "Fusion",
        "fused",
        fused_dropout_sigmoid_linear,
        shown({
            "fp32": lambda d: drawn(d, (37, 65), 33),
            "fp16": lambda d: drawn(d, (32, 64), 32, dtype=FP16) | {"p": 0.3},
            "bf16-no-bias": lambda d: drawn(d, (31, 67), 29, bias=False, dtype=BF16) | {"p": 0.25, "inplace": True},
            "seldom": lambda d: drawn(d, (2, 31, 17), 37) | {"p": 0.1},
            "transposed": lambda d: {"input": transposed(d.normal(29, 41)), "weight": transposed(d.normal(31, 41, scale=0.15)), "p": 0.7},
            "large": lambda d: drawn(d, (37, 53), 31, scale=4),
            "not-in-training": lambda d: drawn(d, (9, 53), 21) | {"training": False},
            "kept": lambda d: drawn(d, (71,), 17, dtype=FP16) | {"p": 0.0, "inplace": True},
            "all-dropped": lambda d: drawn(d, (5, 7), 11) | {"p": 1.0},
            "nothing": lambda d: drawn(d, (0, 5), 3) | {"training": False},
        }) + hidden({
            "strided-bf16": lambda d: drawn(d, (31, 43), 23, dtype=BF16) | {"input": strided(d.normal(31, 43, dtype=BF16)), "p": 0.6},
            "offset-long": lambda d: drawn(d, (5, 1021), 3) | {"input": offset(d.normal(5, 1021)), "training": False},
            "often": lambda d: drawn(d, (3, 23, 19), 41) | {"p": 0.85},
        }),
        timed(layers, SIZES),
        Contract(dropout(), random=True, notes=(INPLACE_NOTE,)),
        honest=rounded_once(fused_dropout_sigmoid_linear),
        truth=kept_and_dropped,
        magnitude=sigmoid_terms,
        wrong={"everything kept": everything_kept, "not rescaled": not_rescaled, "one mask for all rows": whole_rows},
    ),
)  # fmt: skip
