"""Honest computations: as their references, in fp32, and rounded once at the end."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from benchmark.suites.kernelbench_x._out import into

HALVES = (torch.float16, torch.bfloat16)
ONCE = "Halves are computed in float32 and rounded once, at the end."


def rounded_once(reference: Callable[..., Any]) -> Callable[..., Any]:
    """`reference` for halves computed in fp32 and rounded at the end; as it is for other dtypes, or where `dtype` is given."""

    def honest(**arguments: Any) -> Any:
        half = next((dtype for dtype in HALVES if any(value.dtype == dtype for value in _tensors(arguments))), None)
        if half is None or arguments.get("dtype") is not None:
            return reference(**arguments)
        out = arguments.pop("out", None)
        result = reference(**{name: _as(value, torch.float32) for name, value in arguments.items()})
        return into(_as(result, half), out) if isinstance(result, Tensor) else tuple(_as(result, half))

    return honest


def _tensors(arguments: dict[str, Any]) -> list[Tensor]:
    values = [item for value in arguments.values() for item in (value if isinstance(value, list | tuple) else [value])]
    return [value for value in values if isinstance(value, Tensor)]


def _as(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, list | tuple):
        return [_as(item, dtype) for item in value]
    return value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value
