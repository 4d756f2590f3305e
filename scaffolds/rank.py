"""Which attempt is better: one total order for champions and for pools of ancestors (DESIGN 2)."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from scaffolds.state import Attempt


def standing(attempt: Attempt) -> tuple[float, float]:
    """Measured speedup, then modelled; an attempt that has neither stands below all that have one."""
    measured, modelled = attempt["speedup"], attempt["modelled"]
    return (-math.inf if measured is None else measured, -math.inf if modelled is None else modelled)


def ordered(attempts: Iterable[Attempt]) -> list[Attempt]:
    """Best first; of equals, the one with the lower id."""
    return sorted(sorted(attempts, key=lambda a: a["id"]), key=standing, reverse=True)


def better(champion: Attempt | None, attempt: Attempt) -> Attempt | None:
    """The champion after one more attempt. Commutative and associative: the order in which attempts finish does not matter."""
    if attempt["verdict"] != "pass":
        return champion
    return attempt if champion is None else ordered([champion, attempt])[0]


Trait = Callable[[Attempt], Any]


def pooled(
    pool: Iterable[Attempt],
    arrivals: Iterable[Attempt],
    capacity: int,
    *,
    program: Trait = lambda attempt: attempt["kernel"],
    family: Trait = lambda attempt: attempt["id"],
    alike: int = 1,
) -> list[Attempt]:
    """The pool after `arrivals`: passing attempts only, best first, the worst leaving when it is full.

    Of one `program` only the best is kept, and of one `family` the best `alike`. The best of all is never evicted.
    """
    kept: list[Attempt] = []
    programs: set[Any] = set()
    families: Counter[Any] = Counter()
    for attempt in ordered(a for a in (*pool, *arrivals) if a["verdict"] == "pass"):
        if program(attempt) not in programs and families[family(attempt)] < alike:
            kept.append(attempt)
            families[family(attempt)] += 1
        programs.add(program(attempt))
    return kept[:capacity]


def pace(attempt: Attempt) -> float | None:
    """The speed that progress is told by: measured, else modelled, else unknown."""
    return attempt["modelled"] if attempt["speedup"] is None else attempt["speedup"]
