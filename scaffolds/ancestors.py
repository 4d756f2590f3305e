"""Passing candidates that later ones are made from: which are kept, and what none of them has tried."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from agents import rules, strategies
from agents.likeness import fingerprint
from scaffolds.rank import pace, pooled
from scaffolds.state import Attempt

if TYPE_CHECKING:
    from scaffolds.context import Context

TRIED = 6
"""Steps in vain that prompts tell."""


def keep(context: "Context", pool: Sequence[Attempt], arrived: Sequence[Attempt], capacity: int, alike: int | None = None) -> list[Attempt]:
    """The pool after a round, best first. With `alike`: no program twice, whatever its names and comments are, and at most so many of a
    family of strategies; else no text twice."""
    if alike is None:
        return pooled(pool, arrived, capacity)
    return pooled(pool, arrived, capacity, program=partial(program, context), family=partial(family, context), alike=alike)


def directions(context: "Context", pool: Sequence[Attempt]) -> list[str]:
    """Families of strategies that the best one's measurements leave open and no member of the pool has taken."""
    taken = {family(context, attempt) for attempt in pool}
    return [name for name in rules.allowed(context.digest(pool[0]), context.hardware) if name not in taken]


def in_vain(tried: Sequence[str], arrived: Sequence[Attempt], pool: Sequence[Attempt]) -> list[str]:
    """The newest steps from the pool that did not enter it, one line each, with what came of them."""
    kept = {attempt["id"] for attempt in pool}
    steps = [attempt for attempt in arrived if attempt["role"] == "optimiser" and attempt["id"] not in kept]
    return list(dict.fromkeys([*tried, *(outcome(attempt, pool[0]) for attempt in steps)]))[-TRIED:]


def outcome(attempt: Attempt, best: Attempt) -> str:
    speed, record = pace(attempt), pace(best)
    came = (
        f"{speed / record:.2f} times the speed of {best['id']}" if speed and record and attempt["verdict"] == "pass" else attempt["verdict"]
    )
    return f"{attempt['strategy'].rstrip('.') or 'no strategy given'}: {came}"


def program(context: "Context", attempt: Attempt) -> str:
    return fingerprint(source(context, attempt))


def family(context: "Context", attempt: Attempt) -> str:
    return strategies.family(attempt["strategy"], source(context, attempt))


def source(context: "Context", attempt: Attempt) -> str:
    assert attempt["kernel"] is not None
    return context.recorder.kernel(attempt["kernel"])
