"""`task_args`: what a user may set for a foreign task. Values come from Hydra, from `--task-arg key=value`, or from a job's line."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from benchmark.errors import UserError, unknown

MOST_TOLERANCE = 0.5
"""Beyond it zeros are near enough to anything."""


def known(args: Mapping[str, Any], choices: Iterable[str]) -> None:
    """Refuses keys that a format does not have."""
    choices = sorted(choices)
    for key in args:
        if key not in choices:
            raise unknown("task_args key", str(key), choices)


def tolerance(args: Mapping[str, Any]) -> float | None:
    value = args.get("tolerance")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not 0 < value < MOST_TOLERANCE:
        raise UserError(
            f"task_args.tolerance={value!r} is no relative error: give a number above 0 and below {MOST_TOLERANCE}, such as 1e-3, or leave "
            "it out for the tightest budget that an honest kernel needs."
        )
    return float(value)


def choice(args: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> str:
    """One of a few words; the first one where nothing is said. YAML reads a bare `off` as false."""
    value = args.get(key, choices[0])
    value = {False: "off", True: "on"}.get(value, value) if isinstance(value, bool) else value
    if value not in choices:
        raise unknown(f"task_args.{key}", str(value), choices)
    return str(value)


def typed(text: str, option: str = "--task-arg", example: str = "tolerance=1e-3") -> tuple[str, Any]:
    """`key=value` from a command line; the value as JSON where it is any, else as text."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UserError(f"{option} {text!r} is no key=value: write it as {option} {example}.")
    try:
        return key, json.loads(value)
    except ValueError:
        return key, value
