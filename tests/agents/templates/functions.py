"""Operators composed at random, in no suite: pointwise graphs, row reductions and norms, products with an epilogue."""

from collections.abc import Callable
from typing import Any

import torch
from hypothesis import strategies as st
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import Draw
from benchmark.task import Case, Contract, Task

Tensor = torch.Tensor
UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "sin": torch.sin,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "gelu": functional.gelu,
    "silu": functional.silu,
    "softplus": functional.softplus,
    "hardswish": functional.hardswish,
    "mish": functional.mish,
    "elu": functional.elu,
    "leaky_relu": lambda x: functional.leaky_relu(x, 0.2),
    "square": torch.square,
    "neg": torch.neg,
    "soft root": lambda x: torch.sqrt(x.abs() + 1),
    "log1p": lambda x: torch.log1p(x.abs()),
    "decay": lambda x: torch.exp(-x.abs()),
    "clip": lambda x: x.clamp(-1.5, 0.75),
    "erf": torch.erf,
    "inverse": lambda x: 1 / (1 + x * x),
    "cube": lambda x: x**3,
    "atan": torch.atan,
    "gate": lambda x: torch.where(x > 0.1, x, 0.01 * x),
    "half": lambda x: 0.5 * x - 0.25,
}
BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "ratio": lambda x, y: x / (1.5 + y.abs()),
    "hypot": lambda x, y: torch.sqrt(x * x + y * y + 0.1),
    "lerp": lambda x, y: torch.lerp(x, y, 0.3),
    "choose": lambda x, y: torch.where(x > y, x, 0.5 * y),
}
ROWS: dict[str, Callable[[Tensor, int], Tensor]] = {
    "sum": lambda x, d: x.sum(d, keepdim=True),
    "mean": lambda x, d: x.mean(d, keepdim=True),
    "amax": lambda x, d: x.amax(d, keepdim=True),
    "amin": lambda x, d: x.amin(d, keepdim=True),
    "var": lambda x, d: x.var(d, keepdim=True),
    "std": lambda x, d: x.std(d, correction=0, keepdim=True),
    "norm": lambda x, d: torch.linalg.vector_norm(x, dim=d, keepdim=True),
    "logsumexp": lambda x, d: torch.logsumexp(x, d, keepdim=True),
    "softmax": torch.softmax,
    "log_softmax": torch.log_softmax,
    "standardise": lambda x, d: (x - x.mean(d, keepdim=True)) / (x.std(d, keepdim=True) + 1e-3),
    "rms": lambda x, d: x * torch.rsqrt(x.square().mean(d, keepdim=True) + 1e-5),
    "unit": lambda x, d: functional.normalize(x, dim=d),
    "l1": lambda x, d: x / x.abs().sum(d, keepdim=True).clamp(min=1e-6),
    "argmax": lambda x, d: x.argmax(d, keepdim=True),
    "range": lambda x, d: x.amax(d, keepdim=True) - x.amin(d, keepdim=True),
}
DTYPES = (torch.float32, torch.float32, torch.float16, torch.bfloat16)


def chain(x: Tensor, names: list[str]) -> Tensor:
    for name in names:
        x = UNARY[name](x)
    return x


@st.composite
def pointwise(draw: Any) -> Task:
    first, second = (draw(st.lists(st.sampled_from(sorted(UNARY)), min_size=1, max_size=3)) for _ in "ab")
    join = draw(st.sampled_from(sorted(BINARY)))
    other = draw(st.sampled_from([(1,), (), (37,), (29, 1), (29, 37)]))
    scale = draw(st.sampled_from([None, 0.7, 3]))

    def composed(x: Tensor, y: Tensor, scale: float | None = None) -> Tensor:
        joined = BINARY[join](chain(x, first), chain(y, second))
        return joined if scale is None else joined * scale

    dtype = draw(st.sampled_from(DTYPES))
    return task(composed, lambda d: {"x": d.normal(29, 37, dtype=dtype), "y": d.normal(*other, dtype=dtype), "scale": scale})


@st.composite
def rows(draw: Any) -> Task:
    before, after = (draw(st.lists(st.sampled_from(sorted(UNARY)), max_size=2)) for _ in "ab")
    reduction = draw(st.sampled_from(sorted(ROWS)))
    weighted = draw(st.booleans())
    residual = draw(st.booleans())
    rank = draw(st.integers(1, 3))
    dim = draw(st.integers(-rank, rank - 1))
    keep = draw(st.booleans())

    def composed(x: Tensor, w: Tensor, dim: int) -> Tensor:
        y = chain(x * w if weighted else x, before)
        reduced = ROWS[reduction](y, dim)
        if reduction == "argmax":
            return reduced
        reduced = chain(reduced, after)
        if residual:
            return reduced * y
        return reduced if keep or reduced.shape == x.shape else reduced.squeeze(dim)

    shape = (7, 23, 41)[-rank:]
    dtype = draw(st.sampled_from(DTYPES))
    return task(composed, lambda d: {"x": d.normal(*shape, dtype=dtype), "w": d.normal(shape[-1], dtype=dtype), "dim": dim})


@st.composite
def products(draw: Any) -> Task:
    before, after = (draw(st.lists(st.sampled_from(sorted(UNARY)), max_size=2)) for _ in "ab")
    biased, residual, transposed = (draw(st.booleans()) for _ in "abc")
    batch = draw(st.sampled_from([(), (3,)]))
    tail = draw(st.sampled_from(["", "softmax", "sum"]))

    def composed(x: Tensor, w: Tensor, b: Tensor, r: Tensor) -> Tensor:
        y = chain(x, before) @ (w.T if transposed else w) * 0.125
        y = chain(y + b if biased else y, after)
        y = y + r if residual else y
        return y.softmax(-1) if tail == "softmax" else y.sum(-1) if tail == "sum" else y

    dtype = draw(st.sampled_from(DTYPES))

    def arguments(d: Draw) -> dict[str, Any]:
        w = d.normal(19, 35, dtype=dtype) if transposed else d.normal(35, 19, dtype=dtype)
        return {
            "x": d.normal(*batch, 27, 35, dtype=dtype),
            "w": w,
            "b": d.normal(19, dtype=dtype),
            "r": d.normal(*batch, 27, 19, dtype=dtype),
        }

    return task(composed, arguments)


def task(reference: Callable[..., Tensor], arguments: Callable[[Draw], dict[str, Any]]) -> Task:
    return Task("composed/operator", "", "", reference, (Case("shown", arguments),), (), Contract(close()), entry="composed")
