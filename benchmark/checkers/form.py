"""What comes before any number: how many outputs, their type, shape and dtype."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from benchmark.task import Check, Oracle


def each(oracle: Oracle, actual: tuple[Any, ...], one: Callable[[int], Check]) -> Check:
    """The first output that is wrong, or else the check with the largest error. `one(index)` compares well-formed outputs."""
    if len(actual) != len(oracle.honest):
        return Check(False, "wrong_shape", f"{len(actual)} outputs where {len(oracle.honest)} are expected")
    checks = []
    for index, honest in enumerate(oracle.honest):
        check = form(honest, actual[index]) or one(index)
        if not check.ok:
            where = f"output {index}: " if len(oracle.honest) > 1 else ""
            return replace(check, message=where + check.message)
        checks.append(check)
    return max(checks, key=lambda check: check.max_abs or 0.0)


def form(honest: torch.Tensor, actual: Any) -> Check | None:
    """A failing check where `actual` has not the type, shape and dtype of `honest`."""
    if not isinstance(actual, torch.Tensor):
        return Check(False, "wrong_dtype", f"{type(actual).__name__} where a tensor is expected")
    if actual.shape != honest.shape:
        return Check(False, "wrong_shape", f"shape {tuple(actual.shape)} where {tuple(honest.shape)} is expected")
    if actual.dtype != honest.dtype:
        return Check(False, "wrong_dtype", f"dtype {_name(actual.dtype)} where {_name(honest.dtype)} is expected")
    return None


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def percent(share: float) -> str:
    return f"{100 * share:.3g} %"
