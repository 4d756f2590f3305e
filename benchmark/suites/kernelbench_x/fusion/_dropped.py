"""What the fusions with a dropout share."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.suites.kernelbench_x._honest import ONCE

NOTES = (
    ONCE,
    "`inplace` speaks of intermediate results alone: no argument is written.",
)
KEPT = (
    "each element is kept with probability 1 - p and divided by 1 - p, or else becomes 0, independently of all others and anew in each call"
)


def rescaled(value: Tensor, p: float, training: bool) -> Tensor:
    """What dropout makes of elements that are kept."""
    return value / (1 - p) if training and p < 1 else value


def row_mask(value: Tensor, p: float, training: bool) -> Tensor:
    """Dropout with one mask for all rows."""
    return value * functional.dropout(torch.ones_like(value[..., :1, :] if value.dim() > 1 else value[:1]), p, training)


def always(reference: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    """`reference` with some arguments that are always the same."""
    return lambda **arguments: reference(**(arguments | fixed))
