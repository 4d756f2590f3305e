"""Calls of an operator: their arguments, the tensors among them, and what of them decides how the operator computes."""

import inspect
from collections.abc import Callable
from typing import Any

import torch

from agents.models.templates.lower import kind_of

Reference = Callable[..., Any]
Arguments = dict[str, Any]


def complete(reference: Reference, arguments: Arguments) -> Arguments:
    """The call's arguments with the defaults of those left out."""
    bound = inspect.signature(reference).bind(**arguments)
    bound.apply_defaults()
    return dict(bound.arguments)


def tensors(arguments: Arguments) -> dict[str, torch.Tensor]:
    """The tensors of a call by the expression that reaches them."""
    found = {}
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor):
            found[name] = value
        elif isinstance(value, (list, tuple)):
            found |= {f"{name}[{i}]": v for i, v in enumerate(value) if isinstance(v, torch.Tensor)}
    return found


def replaced(arguments: Arguments, given: dict[str, torch.Tensor]) -> Arguments:
    """The call with other tensors, named as `tensors` names them."""
    return {n: _replaced(n, v, given) for n, v in arguments.items()}


def _replaced(name: str, value: Any, given: dict[str, torch.Tensor]) -> Any:
    if name in given:
        return given[name]
    if isinstance(value, (list, tuple)):
        return type(value)(given.get(f"{name}[{i}]", v) for i, v in enumerate(value))
    return value


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_list(value: Any) -> bool:
    """Whether a value is a list of whole numbers, which may be sizes or dims."""
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(type(i) is int for i in value)


def describe(value: Any) -> Any:
    """What of a value a graph depends on: kind, rank and unit dims of a tensor, the value of anything else."""
    if isinstance(value, torch.Tensor):
        return kind_of(value.dtype), tuple(n == 1 for n in value.shape)
    if isinstance(value, torch.dtype):
        return "f" if value.is_floating_point else str(value)
    if isinstance(value, (list, tuple)):
        return tuple(describe(v) for v in value)
    return type(value).__name__, value


def outline(value: Any, free: bool) -> Any:
    """The same for a graph that depends on no number; `free`: nor on ranks."""
    if isinstance(value, torch.Tensor):
        return kind_of(value.dtype) if free else describe(value)
    if isinstance(value, (list, tuple)):
        return tuple(outline(v, free) for v in value)
    return "number" if is_number(value) else describe(value)
