"""Results of quantised computation: the declared scheme carried out, up to roundings that fp32 leaves open."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from benchmark.checkers.form import each
from benchmark.checkers.grid import NEAR, Grid, Quantised
from benchmark.checkers.pieces import compare
from benchmark.precision import BITS, eps
from benchmark.task import Arguments, Check, Oracle

Tensor = torch.Tensor
EPS = eps(torch.float32)
FLOATS = 8.0
"""Error of what is computed in fp32 around the integer sums, in units of eps: scaling back, softmax, a bias."""


@dataclass(frozen=True)
class Bound:
    """How far an honest result may be from the scheme's in fp64."""

    steps: Tensor
    """What the open roundings may change."""
    floats: Tensor
    """Sum of absolute values of which fp32 arithmetic is in error by its eps."""
    rounded: Tensor | float = 0.0
    """Error in units of the eps of a half-precision result: operands that may be rounded to it."""


@dataclass(frozen=True)
class quantised:
    """The tensors named by `grids` are quantised as these say; everything else of the computation is exact, or fp32.

    An honest kernel can round otherwise only where a quotient lies within the fp32 error of a half. There, and only there, a step of
    the grid is allowed, and its effect followed through the computation (`form`) to a bound for each output. So
    `tol = steps + 8 * eps(fp32) * (floats + steps) + eps(dtype) * (|expected| + steps + rounded)`, the last term for fp16 and bf16 results
    (of which small ones are subnormal). A computation without quantisation is off by many steps.
    """

    grids: tuple[Grid, ...]
    form: str = "matmul"
    """How outputs depend on quantised tensors: a name of `FORMS`."""
    left: str = "input"
    right: str = "weight"

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        def one(index: int) -> Check:
            expected, dtype = oracle.expected[index], oracle.honest[index].dtype
            bound = FORMS[self.form](self, {n: v.double() if isinstance(v, Tensor) else v for n, v in arguments.items()})
            own = eps(dtype) if BITS[dtype] < BITS[torch.float32] else 0.0
            rounded = expected.abs() + bound.steps + bound.rounded + torch.finfo(dtype).tiny
            allowed = bound.steps + FLOATS * EPS * (bound.floats + bound.steps) + own * rounded
            return compare(expected.to(dtype), actual[index], expected, lambda _, part: part(allowed))

        return each(oracle, actual, one)

    def grid(self, tensor: str) -> Grid | None:
        return next((grid for grid in self.grids if grid.tensor == tensor), None)

    def quantise(self, tensor: str, values: Tensor, error: Tensor | float = 0.0) -> Quantised:
        """`values` by the grid declared for `tensor`; as they are where there is none."""
        grid = self.grid(tensor)
        return grid(values, error) if grid else Quantised(values, torch.zeros_like(values), 0.0)

    @property
    def words(self) -> str:
        schemes = "; ".join(grid.words for grid in self.grids)
        return (
            f"compared with this scheme carried out in fp64: {schemes}. Where value / scale lies within fp32's error of a half, and only "
            f"there, the next level is right too; the result without quantisation fails"
        )


def bilinear(rule: quantised, arguments: Arguments, product: Callable[[Tensor, Tensor], Tensor]) -> Bound:
    """A sum of products of two operands, and a bias."""
    left, right = (rule.quantise(name, arguments[name]) for name in (rule.left, rule.right))
    steps = product(left.reach, right.values.abs() + right.reach) + product(left.values.abs(), right.reach)
    both = rule.grid(rule.left) and rule.grid(rule.right)
    # Sums of integers are exact; where one side is not quantised, they are fp32 sums, and the other may be rounded like the result.
    terms = product(left.values.abs(), right.values.abs())
    sums = product(left.values, right.values).abs() if both else terms
    # Roundings by half an eps each: all of one sign, or four deviations of what they add up to by chance.
    spread = 0.0 if both else torch.minimum(terms / 2, 1.25 * product(left.values.square(), right.values.square()).sqrt())
    bias = arguments.get("bias")
    return Bound(steps, sums if bias is None else sums + _along(bias, sums, rule).abs(), spread)


def _along(bias: Tensor, like: Tensor, rule: quantised) -> Tensor:
    return bias.reshape(-1, 1, 1) if rule.form == "conv2d" else bias


def matmul(rule: quantised, arguments: Arguments) -> Bound:
    return bilinear(rule, arguments, torch.matmul)


def linear(rule: quantised, arguments: Arguments) -> Bound:
    return bilinear(rule, arguments, functional.linear)


def conv2d(rule: quantised, arguments: Arguments) -> Bound:
    options = {name: arguments[name] for name in ("stride", "padding") if name in arguments}
    return bilinear(rule, arguments, lambda image, kernel: functional.conv2d(image, kernel, **options))


def attention(rule: quantised, arguments: Arguments) -> Bound:
    """`p @ value` with `p = softmax(query @ key.mT / sqrt(D))`, for which `exp(s - max(s))` stands here: it has the same levels."""
    query, key, value = (rule.quantise(name, arguments[name]) for name in ("query", "key", "value"))
    root = math.sqrt(query.values.shape[-1])
    scores = query.values @ key.values.mT / root
    open_ = query.reach @ (key.values.abs() + key.reach).mT + query.values.abs() @ key.reach.mT
    unsure = open_ / root + FLOATS * EPS * scores.abs()
    least, most, highest = ((scores + by).amax(-1, keepdim=True) for by in (-unsure, unsure, 0.0))
    powers = (scores - highest).exp()
    relative = torch.expm1(unsure + torch.maximum(most - highest, highest - least)) + NEAR * EPS
    total = powers.sum(-1, keepdim=True)
    weights = rule.quantise("p", powers, powers * relative)
    steps = weights.reach @ (value.values.abs() + value.reach) + weights.values @ value.reach
    result = (weights.values @ value.values).abs()
    off = (powers * relative).sum(-1, keepdim=True) / total + weights.slip
    return Bound((steps + off * (result + steps)) / total, result / total)


def layer_norm(rule: quantised, arguments: Arguments) -> Bound:
    """The normalised rows are known up to the fp32 error of mean and variance; then they are quantised."""
    shape = arguments["normalized_shape"]
    count = 1 if isinstance(shape, int) else len(shape)
    rows = arguments["input"].flatten(-count)
    mean = rows.mean(-1, keepdim=True)
    root = ((rows - mean).square().mean(-1, keepdim=True) + arguments.get("eps", 1e-5)).sqrt()
    normal = (rows - mean) / root
    error = FLOATS * EPS * ((rows.abs() + mean.abs()) / root * (1 + normal.abs()) + normal.abs())
    weight, bias = arguments.get("weight"), arguments.get("bias")
    if weight is not None:
        normal, error = normal * weight.flatten(), error * weight.flatten().abs() + EPS * (normal * weight.flatten()).abs()
    if bias is not None:
        normal, error = normal + bias.flatten(), error + EPS * bias.flatten().abs()
    result = rule.quantise("y", normal, error)
    bound = result.reach + result.slip * result.values.abs()
    return Bound(bound.reshape(arguments["input"].shape), result.values.abs().reshape(arguments["input"].shape))


FORMS: dict[str, Callable[[Any, Arguments], Bound]] = {
    "matmul": matmul, "linear": linear, "conv2d": conv2d, "attention": attention, "layer_norm": layer_norm
}  # fmt: skip
