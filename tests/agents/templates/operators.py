"""Small tasks for the embedded author, in no suite."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import Draw
from benchmark.task import Arguments, Case, Contract, Task

Tensor = torch.Tensor


def task(
    reference: Callable[..., Any], *calls: Callable[[Draw], Arguments], name: str = "operator", contract: Contract | None = None
) -> Task:
    cases = tuple(Case(f"case-{i}", call) for i, call in enumerate(calls))
    return Task(f"own/{name}", "", "", reference, cases, (), contract or Contract(close()), entry=name)


def swish(x: Tensor, beta: float = 1.0) -> Tensor:
    return x * torch.sigmoid(beta * x)


def soft(x: Tensor, dim: int) -> Tensor:
    return torch.softmax(x, dim)


def normalised(x: Tensor, shape: list[int], gain: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    return functional.layer_norm(x, shape, gain, None, eps)


def total(x: Tensor) -> Tensor:
    return (x * x).sum()


def dense(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return functional.gelu(x @ w + b)


def nll(x: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    return functional.cross_entropy(x, target, reduction=reduction)


def quantised(x: Tensor, w: Tensor) -> Tensor:
    scale = x.abs().amax(1, keepdim=True).clamp(min=1e-6) / 127
    q = (x / scale).round().clamp(-127, 127).to(torch.int8)
    return (q.to(torch.int32) @ w.to(torch.int32)).float() * scale


SWISH = task(swish, lambda d: {"x": d.normal(37)}, lambda d: {"x": d.normal(5, 7, dtype=torch.float16), "beta": 1.5})
SOFT = task(soft, lambda d: {"x": d.normal(9, 21), "dim": -1})
NORMALISED = task(
    normalised,
    lambda d: {"x": d.normal(9, 21), "shape": [21], "gain": d.normal(21)},
    lambda d: {"x": d.normal(9, 21, scale=1e-3), "shape": [21]},
    lambda d: {"x": d.normal(9, 21, shift=30), "shape": [21]},
)
TOTAL = task(total, lambda d: {"x": d.normal(9, 21)})
DENSE = task(dense, lambda d: {"x": d.normal(9, 21), "w": d.normal(21, 18), "b": d.normal(18)})
NLL = task(
    nll,
    lambda d: {"x": d.normal(9, 21), "target": torch.arange(9)},
    lambda d: {"x": d.normal(9, 21), "target": torch.arange(9), "reduction": "none"},
)
QUANTISED = task(quantised, lambda d: {"x": d.normal(9, 21), "w": (d.normal(21, 18) * 40).to(torch.int8)})
ALL = {"swish": SWISH, "soft": SOFT, "normalised": NORMALISED, "total": TOTAL, "dense": DENSE, "nll": NLL, "quantised": QUANTISED}
