"""Writes a module: kernels for every stage of every traced pattern, a plan per pattern, and a function that chooses among them."""

import inspect

import torch

from agents.models.templates import prelude
from agents.models.templates.graph import Declined
from agents.models.templates.patterns import Traced, elementwise
from agents.models.templates.plans import Module, PlanWriter, destination
from agents.models.templates.search import Parameters
from benchmark.task import Task

Units = tuple[tuple[int, int], ...]
"""Arguments and dims that must have size 1."""
Table = dict[tuple[str, ...], dict[str, list[tuple[Units, str, str]]]]
"""What is read of each argument -> the key that this gives -> plans, each with the units and the condition that it needs."""


def write(task: Task, patterns: list[Traced], parameters: Parameters) -> str:
    """The candidate's source. Raises `Declined` when a pattern that the visible cases need cannot be written."""
    module = Module()
    signature = inspect.signature(task.reference)
    table: Table = {}
    for traced in patterns:
        try:
            chosen = PlanWriter(task.contract, signature, traced, module).write()
        except Declined:
            if traced.needed:
                raise
            continue
        how, key, units = _entry(traced)
        fits = f", lambda {', '.join(signature.parameters)}: {traced.condition()}" if traced.conditions else ""
        entries = table.setdefault(how, {}).setdefault(key, [])
        if (units, fits) not in [entry[:2] for entry in entries]:
            entries.append((units, fits, chosen))
    return _text(task.entry_name, signature, module, table, parameters)


def _entry(traced: Traced) -> tuple[tuple[str, ...], str, Units]:
    """How the pattern is recognised."""
    free = elementwise(traced.outputs)
    how = tuple("value" if n in traced.exact else "class" if free else "kind" for n in traced.arguments)
    keys = [_key(v, h) for v, h in zip(traced.arguments.values(), how, strict=True)]
    tensors = [(i, t) for i, t in enumerate(traced.arguments.values()) if isinstance(t, torch.Tensor)]
    units = [] if free else [(i, d) for i, t in tensors for d, n in enumerate(t.shape) if n == 1]
    return how, f"({', '.join(keys)},)", tuple(units)


def _key(value: object, how: str) -> str:
    """What the emitted module reads of an argument, as source."""
    if how == "value":
        return repr(tuple(value) if isinstance(value, (list, tuple)) else value)
    if isinstance(value, torch.Tensor):
        kind = "f" if value.dtype.is_floating_point else "b" if value.dtype == torch.bool else "i"
        return repr(kind if how == "class" else (kind, value.dim()))
    if isinstance(value, torch.dtype):
        return repr("f" if value.is_floating_point else str(value))
    if isinstance(value, (list, tuple)):
        return "(" + "".join(f"{_key(v, how)}, " for v in value) + ")"
    return repr(None if value is None else "n")


def _text(entry: str, signature: inspect.Signature, module: Module, table: Table, parameters: Parameters) -> str:
    parts = [f'"""{entry}, written by rule."""\n\n', prelude.IMPORTS, "\n", parameters.text(), "\n", prelude.HELPERS]
    parts += [text for name, text in prelude.LAUNCHES.items() if name in module.helpers]
    parts += [f"\n\n@triton.jit\ndef {name}{text}\n" for text, name in module.kernels.items()]
    parts += [f"\n\ndef {name}{text}\n" for text, name in module.plans.items()]
    return "".join([*parts, _plans(table), _function(entry, signature)])


def _plans(table: Table) -> str:
    """Exact values before kinds, more unit dims before fewer, conditions before none."""
    lines = ["", "", "PLANS = ["]
    for how in sorted(table, key=lambda h: -h.count("value")):
        lines.append(f"    ({how!r}, {{")
        for key, entries in table[how].items():
            ordered = sorted(entries, key=lambda e: (-len(e[0]), not e[1]))
            lines.append(f"        {key}: [{', '.join(f'({units!r}, {name}{fits})' for units, fits, name in ordered)}],")
        lines.append("    }),")
    return "\n".join([*lines, "]", ""])


def _function(entry: str, signature: inspect.Signature) -> str:
    """The entry. A destination does not choose a plan."""
    defaults = {n: "" if p.default is inspect.Parameter.empty else f"={p.default!r}" for n, p in signature.parameters.items()}
    known = "".join("None, " if n == destination(signature) else f"{n}, " for n in defaults)
    parameters = ", ".join(f"{n}{default}" for n, default in defaults.items())
    return f"\n\ndef {entry}({parameters}):\n    return _plan(({known}))({', '.join(defaults)})\n"
