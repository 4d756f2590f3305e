"""Arguments that a foreign file has drawn: from a seed, cut to what can be sent, compared, described."""

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from benchmark.errors import UserError
from benchmark.task import Arguments

PLAIN = frozenset({torch.dtype, bool, int, float, str, type(None)})


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Every generator at hand starts from the seed; afterwards those of the host go on as they were."""
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


def parts(value: Any) -> Iterator[Any]:
    """What lists, tuples and dicts hold in the end."""
    if isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from parts(item)
    else:
        yield value


def strange(value: Any) -> str | None:
    """The name of a type in `value` that no argument may have."""
    if isinstance(value, list | tuple):
        return next((name for item in value if (name := strange(item))), None)
    return None if isinstance(value, torch.Tensor) or type(value) in PLAIN else type(value).__name__


def fit(arguments: Arguments, where: str) -> Arguments:
    """Without gradients, and refused where something cannot be an argument."""
    for name, value in arguments.items():
        if found := strange(value):
            raise UserError(
                f"{where} gives {name} as {found}: arguments are tensors, numbers, strings, dtypes, None, or lists of these (a module's "
                "weights are passed as tensors)."
            )
    return {name: cast(value) for name, value in arguments.items()}


def cast(value: Any, dtype: torch.dtype | None = None) -> Any:
    """`value` without gradients, its floats in `dtype` where that is given; sizes as a tuple."""
    if isinstance(value, dict):
        return {name: cast(item, dtype) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [cast(item, dtype) for item in value] if isinstance(value, list) else tuple(cast(item, dtype) for item in value)
    if not isinstance(value, torch.Tensor):
        return value
    return value.detach().to(dtype) if dtype and value.is_floating_point() else value.detach()


def same(left: Any, right: Any) -> bool:
    """Whether two values are equal, tensor by tensor, NaN equal to NaN."""
    ours, theirs = list(parts(left)), list(parts(right))
    return len(ours) == len(theirs) and all(_equal(one, other) for one, other in zip(ours, theirs, strict=True))


def _equal(one: Any, other: Any) -> bool:
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return bool(one is other or one == other)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())


def near(left: list[torch.Tensor], right: list[torch.Tensor]) -> bool:
    """Whether two answers are the same but for the order in which sums were made."""
    return len(left) == len(right) and all(_near(one, other) for one, other in zip(left, right, strict=True))


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    if _equal(one, other) or one.shape != other.shape or one.dtype != other.dtype:
        return _equal(one, other)
    if not one.is_floating_point():
        return False
    a, b = (tensor.double().nan_to_num(0.0, 0.0, 0.0) for tensor in (one, other))
    return bool((a - b).abs().max() <= 64 * torch.finfo(one.dtype).eps * a.abs().max())


def permuted(arguments: Arguments, seed: int, names: list[str]) -> Arguments:
    """The elements of some tensors in another order."""
    generator = torch.Generator().manual_seed(seed)
    found = dict(arguments)
    for name in names:
        value = arguments[name]
        order = torch.randperm(value.numel(), generator=generator).to(value.device)
        found[name] = value.reshape(-1)[order].reshape(value.shape)
    return found


def elements(value: Any) -> int:
    return sum(part.numel() for part in parts(value) if isinstance(part, torch.Tensor))


def said(error: BaseException) -> str:
    """An exception in one line."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:
        lines = []
    return (type(error).__name__ + (f": {lines[0].rstrip('.')}" if lines else ""))[:300]
