"""What tasks of several modules have in common: domains, special values, and the family of pointwise functions."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.sizes import POINTS
from benchmark.task import Arguments, Case, Contract, Maker, Task, hidden, shown, timed

FP64, FP32, FP16, BF16 = torch.float64, torch.float32, torch.float16, torch.bfloat16
Values = Callable[..., Tensor]
"""`values(draw, *shape, dtype=...)`: a tensor over some domain."""


def normal(scale: float = 1.0, shift: float = 0.0) -> Values:
    return lambda draw, *shape, dtype=FP32: draw.normal(*shape, dtype=dtype, scale=scale, shift=shift)


def between(low: float, high: float) -> Values:
    return lambda draw, *shape, dtype=FP32: draw.uniform(*shape, low=low, high=high, dtype=dtype)


def spread(low: float, high: float) -> Values:
    """Positive values whose logarithms are spread evenly."""
    ratio = high / low
    return lambda draw, *shape, dtype=FP32: (low * ratio ** draw.uniform(*shape, dtype=torch.promote_types(dtype, FP32))).to(dtype)


def signed(values: Values) -> Values:
    """The same values, half of them negative."""

    def draw_signed(draw: Draw, *shape: int, dtype: torch.dtype = FP32) -> Tensor:
        positive = values(draw, *shape, dtype=dtype)
        return torch.where(draw.uniform(*shape) < 0.5, -positive, positive)

    return draw_signed


def planted(tensor: Tensor, *special: float) -> Tensor:
    """A contiguous tensor whose first elements are the special ones."""
    tensor.view(-1)[: len(special)] = torch.tensor(special, dtype=tensor.dtype, device=tensor.device)
    return tensor


def widened(tensor: Tensor) -> Tensor:
    """Half precisions as fp32, the rest as it is."""
    return tensor.to(torch.promote_types(tensor.dtype, FP32)) if tensor.is_floating_point() else tensor


def pointwise(
    reference: Callable[..., Any],
    values: Values,
    *,
    category: str = "Math",
    source: str = "torch",
    argument: str = "input",
    options: Arguments | None = None,
    halves: bool = True,
    edges: Sequence[float] = (),
    also: dict[str, Values] | None = None,
    held_out: dict[str, Values] | None = None,
    cases: tuple[Case, ...] = (),
    contract: Contract | None = None,
    **more: Any,
) -> Task:
    """A function of each element of one tensor, `argument`, with further `options` alike in all these cases.

    `values` is its ordinary domain, `edges` single values to be met, `also` and `held_out` are further domains, `cases` further cases.
    """

    def made(tensor: Callable[[Draw], Tensor]) -> Maker:
        return lambda draw: {argument: tensor(draw), **(options or {})}

    def over(domain: Values) -> Maker:
        return made(lambda draw: domain(draw, 769))

    half = {
        "fp16": made(lambda d: values(d, 31, 67, dtype=FP16)),
        "bf16": made(lambda d: values(d, 997, dtype=BF16)),
    } if halves else {"matrix": made(lambda d: values(d, 31, 67))}  # fmt: skip
    seen = {
        "fp32": made(lambda d: values(d, 4099)),
        **half,
        "transposed": made(lambda d: transposed(values(d, 29, 43))),
        **({"edges": made(lambda d: planted(values(d, 521), *edges))} if edges else {}),
        **{name: over(domain) for name, domain in (also or {}).items()},
        "one": made(lambda d: values(d, 1)),
        "empty": made(lambda d: values(d, 0, 5)),
    }
    unseen = {
        "strided": made(lambda d: strided(values(d, 13, 67, dtype=BF16 if halves else FP32))),
        "offset": made(lambda d: offset(values(d, 2, 3, 173))),
        **{name: over(domain) for name, domain in (held_out or {}).items()},
    }
    return Task(
        f"kernelbench_x/{reference.__name__}",
        category,
        source,
        reference,
        shown(seen) + hidden(unseen) + cases,
        timed(lambda d, n: {argument: values(d, n), **(options or {})}, POINTS),
        contract or Contract(close()),
        **more,
    )
