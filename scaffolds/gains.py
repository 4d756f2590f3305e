"""What tuning without a model gained, told apart from what the models reached."""

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from agents.sweep import TUNER


class Gain(TypedDict):
    variants: int
    passed: int
    models: float | None
    """Speedup of the best attempt that a model wrote."""
    best: float | None
    """Of the best attempt of all: not below `models`."""
    gain: float | None
    """`best` over `models`; 1 where no variant was faster. None where a speed is unknown."""
    measured: bool
    """Whether the speeds are measured; else they are modelled."""


def of_tuner(attempts: Iterable[Mapping[str, Any]]) -> Gain | None:
    """Over the attempts or attempt records of one trajectory; None where no variant was judged."""
    every = list(attempts)
    variants = [a for a in every if a["role"] == TUNER]
    if not variants:
        return None
    passed = [a for a in every if a["verdict"] == "pass"]
    measured = any(a["speedup"] is not None for a in passed)
    key = "speedup" if measured else "modelled"
    best = max((a[key] for a in passed if a[key] is not None), default=None)
    models = max((a[key] for a in passed if a[key] is not None and a["role"] != TUNER), default=None)
    return Gain(
        variants=len(variants),
        passed=sum(a["verdict"] == "pass" for a in variants),
        models=models,
        best=best,
        gain=best / models if best is not None and models else None,
        measured=measured,
    )
