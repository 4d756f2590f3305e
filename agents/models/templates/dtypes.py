"""Output dtypes: observed for the dtypes that a call could meet, and put into one expression."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import reduce

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from agents.models.templates.calls import Arguments, Reference, replaced, tensors
from agents.models.templates.graph import Declined
from agents.models.templates.lower import kind_of
from agents.models.templates.quiet import quiet

FLOATS = (torch.float16, torch.float64)
WHOLE = (torch.int32, torch.int64)


@dataclass(frozen=True)
class Observed:
    """The dtypes of one call's outputs, beside those of its arguments."""

    dtypes: dict[str, torch.dtype]
    outputs: tuple[torch.dtype, ...]


def observe(reference: Reference, arguments: Arguments) -> list[Observed]:
    """What the operator returns for floats of one dtype, for mixtures of two, for integers of one dtype, and for each dtype asked for."""
    found = tensors(arguments)
    floating = [n for n, t in found.items() if t.dtype.is_floating_point]
    whole = [n for n, t in found.items() if kind_of(t.dtype) == "i"]
    trials: list[dict[str, torch.dtype]] = [{}]
    trials += [dict.fromkeys(floating, d) for d in FLOATS if floating] + [dict.fromkeys(whole, d) for d in WHOLE if whole]
    trials += [dict.fromkeys(floating, torch.float16) | {n: torch.float32} for n in floating if len(floating) > 1]
    options = [n for n, v in arguments.items() if isinstance(v, torch.dtype) and v.is_floating_point]
    asked = [dict.fromkeys(options, d) for d in FLOATS] if options else [{}]
    seen = [_observe(reference, arguments, trial, option) for trial in trials for option in asked]
    return [o for o in seen if o is not None]


def _observe(
    reference: Reference, arguments: Arguments, dtypes: dict[str, torch.dtype], options: dict[str, torch.dtype]
) -> Observed | None:
    given = {n: t.to(dtypes.get(n, t.dtype)) for n, t in tensors(arguments).items()}
    call = arguments | options
    mixed = len({t.dtype for t in given.values() if t.dtype.is_floating_point}) > 1
    try:
        # Fake tensors let mixtures through that operators refuse.
        with torch.no_grad(), quiet(), nullcontext() if mixed else FakeTensorMode(allow_non_fake_inputs=True) as mode:
            out = reference(**replaced(call, given if mode is None else {n: mode.from_tensor(t) for n, t in given.items()}))
    except Exception:  # such a mixture of dtypes is not accepted
        return None
    kinds = {n: t.dtype for n, t in given.items()} | {n: v for n, v in call.items() if isinstance(v, torch.dtype)}
    return Observed(kinds, tuple(o.dtype for o in (out if isinstance(out, (tuple, list)) else (out,))))


def rule(observed: list[Observed], i: int, ranks: dict[str, int]) -> str:
    """The shortest expression that gives an output's dtype in every observed call; `ranks` are those of the tensors."""
    names = list(ranks)
    options = sorted({n for o in observed for n in o.dtypes if n not in names})
    rules: list[tuple[str, Callable[[Observed], object]]] = [(f"{n}.dtype", lambda o, n=n: o.dtypes[n]) for n in names]  # type: ignore[misc]
    rules += [(n, lambda o, n=n: o.dtypes[n]) for n in options]  # type: ignore[misc]
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 1 :]]
    rules += [(f"torch.result_type({a}, {b})", lambda o, a=a, b=b: _mixed(o, a, b, ranks)) for a, b in pairs]  # type: ignore[misc]
    wide = torch.float32
    rules += [(f"torch.promote_types({n}.dtype, {wide})", lambda o, n=n: torch.promote_types(o.dtypes[n], wide)) for n in names]  # type: ignore[misc]
    first = observed[0].outputs[i]
    rules += [(str(first), lambda o: first), ("_promoted(" + ", ".join(f"{n}.dtype" for n in names) + ")", lambda o: _promoted(o, names))]
    for text, rule in rules:
        if all(rule(o) == o.outputs[i] for o in observed):
            return text
    raise Declined("the output's dtype follows no rule")


def _mixed(observed: Observed, a: str, b: str, ranks: dict[str, int]) -> torch.dtype:
    return torch.result_type(*(torch.empty((1,) * ranks[n], dtype=observed.dtypes[n]) for n in (a, b)))


def _promoted(observed: Observed, names: list[str]) -> object:
    return reduce(torch.promote_types, (observed.dtypes[n] for n in names))
