"""Ways of calling an operator: which calls a traced graph holds for, and which others are worth tracing for inputs not shown."""

import inspect
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import truediv
from typing import Any

import torch

from agents.models.templates.calls import Arguments, Reference, describe, is_number, outline, tensors
from agents.models.templates.dtypes import Observed
from agents.models.templates.graph import Node, walk

SPECIAL = (0, 1, -1)
"""Numbers that references treat apart: a graph that follows a number is not trusted with them before they are traced too."""
HIGHEST = 4
"""The highest rank that is tried for inputs not shown."""


@dataclass
class Traced:
    """One way of calling the operator, as a graph that holds for every size that meets `conditions` and every followed number."""

    arguments: Arguments
    outputs: tuple[Node, ...]
    sizes: dict[str, list[str]]
    """Name of a size -> the wrapper's expressions that all give it."""
    exact: frozenset[str]
    """Parameters whose value the graph depends on; the others matter by kind only."""
    conditions: tuple[str, ...] = ()
    """What the reference asked of the sizes on the way, over names of sizes."""
    observed: list[Observed] = field(default_factory=list)
    needed: bool = True
    """Whether a visible case calls the operator so; else the pattern is a guess at inputs not shown."""

    def condition(self) -> str:
        """The conditions as one expression over the parameters."""
        text = " and ".join(f"({c})" for c in self.conditions)
        for name, sources in self.sizes.items():
            text = text.replace(name, sources[0])
        return text


def covers(traced: Traced, arguments: Arguments) -> bool:
    """Whether a pattern already holds for a call."""
    free = elementwise(traced.outputs)
    for name, value in arguments.items():
        known = traced.arguments[name]
        if is_number(value) and is_number(known) and value in SPECIAL and value != known:
            return False
        if name in traced.exact:
            if describe(known) != describe(value):
                return False
        elif outline(known, free) != outline(value, free):
            return False
    # The text is the author's own, from symbolic sizes.
    return not traced.conditions or bool(eval(traced.condition(), {"math": math, "truediv": truediv}, dict(arguments)))


def elementwise(outputs: tuple[Node, ...]) -> bool:
    """Whether the graph is pointwise with nothing but broadcasting, so that it holds for every rank."""
    plain = all(n.op in ("point", "const", "scalar", "input") or _repeats(n) for n in walk(outputs))
    return plain and len({o.shape for o in outputs}) == 1 and all(o.op == "point" for o in outputs)


def _repeats(node: Node) -> bool:
    """Whether a view is that of a constant: it holds for every rank."""
    return node.op == "view" and node.args[0].op in ("const", "scalar")


def variations(reference: Reference, traced: list[Traced]) -> Iterator[Arguments]:
    """Calls near the known ones: other numbers, flags, absent options, ranks and dims."""
    bases = [t.arguments for t in traced]
    calls = [*bases, *(a for t in traced for a in _numbers(t)), *(a for base in bases for a in _options(reference, base))]
    if not all(elementwise(t.outputs) for t in traced):
        plain = [a for a in bases if not any(1 in t.shape for t in tensors(a).values())]
        calls += [changed for a in plain or bases for changed in _ranks(a)]
    calls += [a | {n: not v} for a in calls for n, v in a.items() if isinstance(v, bool)]
    exact = {n for t in traced for n in t.exact}
    for arguments in calls:
        yield arguments
        rank = max((t.dim() for t in tensors(arguments).values()), default=0)
        for name, value in arguments.items():
            if type(value) is int and name in exact and -HIGHEST <= value < HIGHEST:
                yield from (arguments | {name: d} for d in range(-rank, rank))


def moved(value: Any, step: int) -> Any:
    """A number elsewhere, away from the special ones; steps differ."""
    if isinstance(value, int):
        return abs(value) + (3, 8)[step]
    return value * (1.37, 2.21)[step] + (0.11, 0.83)[step]


def _numbers(traced: Traced) -> Iterator[Arguments]:
    """A number that was followed, at the special values; one that was not, elsewhere."""
    for name, value in traced.arguments.items():
        if is_number(value):
            values = [moved(value, 0)] if name in traced.exact else [type(value)(v) for v in SPECIAL]
            yield from (traced.arguments | {name: v} for v in values)


def _options(reference: Reference, arguments: Arguments) -> Iterator[Arguments]:
    for name, parameter in inspect.signature(reference).parameters.items():
        default = parameter.default
        if default is not inspect.Parameter.empty and describe(default) != describe(arguments[name]):
            yield arguments | {name: default}


def _ranks(arguments: Arguments) -> Iterator[Arguments]:
    """The call with its highest tensors given or taken leading dims; of two tensors, also each by itself."""
    found = {n: t for n, t in tensors(arguments).items() if "[" not in n}
    top = max((t.dim() for t in found.values()), default=0)
    for rank in range(1, HIGHEST + 1):
        if top and rank != top:
            yield arguments | {n: _of_rank(t, rank) for n, t in found.items() if t.dim() == top}
    if len(found) == 2:
        (a, first), (b, second) = found.items()
        yield from (arguments | {a: x, b: y} for x in _shapes(first) for y in _shapes(second))


def _of_rank(tensor: torch.Tensor, rank: int) -> torch.Tensor:
    """With leading dims of sizes 2, 3, ... added, or leading dims dropped."""
    if rank >= tensor.dim():
        return tensor.expand(*range(2, 2 + rank - tensor.dim()), *tensor.shape)
    return tensor[(0,) * (tensor.dim() - rank)]


def _shapes(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    yield from (_of_rank(tensor, rank) for rank in range(1, HIGHEST + 1))
    if tensor.dim() > 1:
        yield tensor[..., 0]
