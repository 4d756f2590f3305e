"""The domain that a champion was tested on: what the calls of its passed cases have in common, for the exported package to dispatch by.

A call is inside where each of these holds by itself; ranks of one case with dtypes of another are inside.

- device: all tensors lie on one device of the type that was tried.
- dtypes: those of all tensors together are those of a case.
- forms: kinds of dtype (floating, integer, boolean, complex), ranks, what is None, and options (whole numbers, strings, flags, dtypes)
  together are those of a case. `equal`: dimensions, counted over all tensors, that had equal sizes in every case of the form.
- tensors: none has more elements or a longer dimension than that argument ever had; none is empty or strided that never was.
- numbers: arguments that are ever floats lie between the least and the greatest that was tried.
- follows: arguments that were the last sizes of another one in every case (`normalized_shape`) are so again.
"""

import inspect
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from torch import Tensor

from benchmark.task import Task
from experiments.export.runtime import Arguments, dtypes, form, sizes, tensors, trailing
from tools import platforms


def tested(task: Task, evaluation: dict[str, Any]) -> list[Arguments]:
    """Arguments of the cases and timed sizes that a champion passed, without values where they are large. An empty list: the task has
    other cases now."""
    passed = {case["case"] for case in evaluation["cases"] if case["ok"]}
    passed |= {size["case"] for size in (evaluation["timing"] or {"sizes": []})["sizes"]}
    large = {case.name for case in (*task.timing, *(c for c in task.cases if c.device_only))}
    cases = [case for case in (*task.cases, *task.timing) if case.name in passed]
    # The inputs of a file that is not ours are drawn in a sandbox only.
    return [filled(task, case.arguments(task.id, 0, "meta" if task.origin or case.name in large else "cpu")) for case in cases]


def filled(task: Task, arguments: Arguments) -> Arguments:
    """All parameters in the signature's order."""
    parameters = inspect.signature(task.reference).parameters.values()
    return {p.name: arguments.get(p.name, p.default) for p in parameters}


def domain(calls: Sequence[Arguments]) -> dict[str, Any]:
    """JSON-like; `experiments.export.runtime.Domain` reads it."""
    numbers = {name: span(call[name] for call in calls) for name in calls[0] if any(isinstance(c[name], float) for c in calls)}
    row: dict[str, Any] = {
        "device": device_type(),
        "dtypes": distinct(dtypes(call) for call in calls),
        "numbers": numbers,
        "follows": follows(calls),
        "tensors": {name: extents([call[name] for call in calls]) for name in calls[0] if any(list(tensors(c[name])) for c in calls)},
    }
    grouped: dict[str, list[Arguments]] = {}
    for call in calls:
        grouped.setdefault(json.dumps(form(call, row)), []).append(call)
    return {**row, "forms": [{"form": json.loads(key), "equal": equal([sizes(call) for call in same])} for key, same in grouped.items()]}


def device_type() -> str:
    """What torch calls the kind of device that candidates run on, the simulated one too."""
    return platforms.detect().torch_device.partition(":")[0]


def distinct(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({json.dumps(row): row for row in rows}.values())


def span(values: Iterable[Any]) -> list[float]:
    known = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)]
    return [min(known, default=0.0), max(known, default=0.0)]


def follows(calls: Sequence[Arguments]) -> dict[str, str]:
    """Arguments that are the last sizes of a tensor in every case, and of which several were tried."""
    found = {}
    for name in calls[0]:
        of = [other for other in calls[0] if all(isinstance(c[other], Tensor) and trailing(c[name], c[other].shape) for c in calls)]
        if of and len({tuple(call[name]) for call in calls}) > 1:
            found[name] = of[0]
    return found


def extents(values: Sequence[Any]) -> dict[str, Any]:
    every = [tensor for value in values for tensor in tensors(value)]
    return {
        "elements": max(tensor.numel() for tensor in every),
        "longest": max(max(tensor.shape, default=0) for tensor in every),
        "least": min(min(tensor.numel() for tensor in every), 1),
        "strided": any(not tensor.is_contiguous() for tensor in every),
    }


def equal(found: Sequence[list[int]]) -> list[list[int]]:
    """Places whose sizes are equal in each of the lists."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for place, column in enumerate(zip(*found, strict=True)):
        groups.setdefault(column, []).append(place)
    return [places for places in groups.values() if len(places) > 1]


def shapes(call: Arguments) -> str:
    """A call in words: `input float32[64, 512]`."""
    parts = [f"{name} {str(t.dtype).removeprefix('torch.')}{list(t.shape)}" for name, value in call.items() for t in tensors(value)]
    return ", ".join(parts)
