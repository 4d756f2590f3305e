"""`inputs()` and `timing()` of a user's file: called from a seed, and checked."""

import contextlib
import inspect
import random
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import torch

from benchmark.errors import UserError
from benchmark.oracle import identical
from benchmark.task import Arguments

PLAIN = (torch.Tensor, torch.dtype, bool, int, float, str, type(None))

Sets = Callable[[int], list[Arguments]]
"""All input sets for a seed."""


def sets(module: ModuleType, path: str, name: str, reference: Callable[..., Any]) -> Sets:
    """The function `name` of the user's file, seeded and checked at each call."""
    if not inspect.isfunction(getattr(module, name, None)):
        raise UserError(
            f"{path} has no {name}() function: add one that returns the arguments of {reference.__name__} by name, or a list of such dicts."
        )

    def make(seed: int) -> list[Arguments]:
        try:
            with seeded(seed):
                made = getattr(module, name)()
        except Exception as error:
            raise UserError(f"{name}() in {path} fails: {said(error)}.") from error
        made = [made] if isinstance(made, dict) else made
        _check(made, path, name, reference)
        return cast(made)

    make(0)
    return make


def follow_seed(make: Sets, path: str, name: str) -> None:
    """Refuses inputs that change without the seed, or do not change with it."""
    if not same(make(0), make(0)):
        raise UserError(f"{name}() in {path} gives other values each time: draw them with torch, numpy or random, inside {name}().")
    if same(make(0), make(1)):
        raise UserError(f"{name}() in {path} gives the same values for every seed: draw them inside {name}(), and set no seed there.")


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Every generator at hand starts from the seed; afterwards they go on as they were."""
    pythons, numpys = random.getstate(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed % (1 << 32))
        try:
            yield
        finally:
            random.setstate(pythons)
            np.random.set_state(numpys)


def _check(made: Any, path: str, name: str, reference: Callable[..., Any]) -> None:
    if not isinstance(made, list) or not made or not all(isinstance(item, dict) for item in made):
        found = f"{type(made).__name__} of {type(made[0]).__name__}" if isinstance(made, list | tuple) and made else f"{made!r:.40}"
        raise UserError(f"{name}() in {path} must return a dict of arguments by name, or a list of such dicts, not {found}.")
    for item in made:
        try:
            inspect.signature(reference).bind(**item)
        except TypeError as error:
            raise UserError(f"{name}() in {path} does not fit {reference.__name__}{inspect.signature(reference)}: {error}.") from error
        for argument, value in item.items():
            strange = next((type(part).__name__ for part in parts(value) if not isinstance(part, PLAIN)), None)
            if strange:
                raise UserError(
                    f"{name}() in {path} gives {argument} as {strange}: arguments are tensors, numbers, strings, dtypes, None, or lists of "
                    "these (a module's weights are passed as tensors)."
                )


def parts(value: Any) -> Iterator[Any]:
    """What lists, tuples and dicts hold in the end."""
    if isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from parts(item)
    else:
        yield value


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal, tensor by tensor."""
    ours, theirs = list(parts(left)), list(parts(right))
    return len(ours) == len(theirs) and all(
        identical(one, other) if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) else one is other or one == other
        for one, other in zip(ours, theirs, strict=True)
    )


def elements(arguments: Arguments) -> int:
    return sum(part.numel() for part in parts(arguments) if isinstance(part, torch.Tensor))


def cast(value: Any, dtype: torch.dtype | None = None) -> Any:
    """`value` without gradients, its floats in `dtype` where that is given."""
    if isinstance(value, dict):
        return {name: cast(item, dtype) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(cast(item, dtype) for item in value)
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().to(dtype) if dtype and value.is_floating_point() else value.detach()


def said(error: Exception) -> str:
    """An exception in one line."""
    lines = str(error).strip().splitlines()
    return type(error).__name__ + (f": {lines[0].rstrip('.')}" if lines else "")
