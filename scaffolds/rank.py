"""Which attempt is better: one total order for champions and pools (DESIGN 2)."""

import math
from collections.abc import Iterable

from scaffolds.state import Attempt


def standing(attempt: Attempt) -> tuple[float, float]:
    """Measured speedup, then modelled; an attempt that has neither stands below all that have one."""
    return (
        -math.inf if attempt["speedup"] is None else attempt["speedup"],
        -math.inf if attempt["modelled"] is None else attempt["modelled"],
    )


def ordered(attempts: Iterable[Attempt]) -> list[Attempt]:
    """Best first; of equals, the one with the lower id."""
    return sorted(sorted(attempts, key=lambda a: a["id"]), key=standing, reverse=True)


def better(champion: Attempt | None, attempt: Attempt) -> Attempt | None:
    """The champion after one more attempt. Commutative and associative: the order in which attempts finish does not matter."""
    if attempt["verdict"] != "pass":
        return champion
    return attempt if champion is None else ordered([champion, attempt])[0]
