"""Numbers that tables report, computed from records alone. Unknown is None; the denominator is what was asked."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

KINDS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
"""Disjoint kinds of tokens; `reasoning` is a part of output."""


def standing(attempt: dict[str, Any]) -> tuple[float, float]:
    """What champions are compared by: measured speedup, then modelled. An attempt without either stands last."""
    measured, modelled = attempt.get("speedup"), attempt.get("modelled")
    return (measured if measured is not None else -math.inf, modelled if modelled is not None else -math.inf)


def geomean(values: Iterable[float]) -> float | None:
    logs = [math.log(v) for v in values]
    return math.exp(sum(logs) / len(logs)) if logs else None


def speedups(solved: Sequence[float | None], asked: int) -> tuple[float | None, float | None]:
    """Geometric means over the solved and over all that were asked, where a failure counts as 1.0. None when nothing was measured."""
    measured = [s for s in solved if s is not None]
    if not measured or len(measured) < len(solved):
        return geomean(measured), None
    return geomean(measured), geomean([*measured, *[1.0] * (asked - len(measured))])


def champion(trajectory: dict[str, Any], attempts: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any] | None:
    """The champion's attempt record, or None."""
    return attempts.get((trajectory["trajectory"], trajectory["champion"])) if trajectory["champion"] else None


def tokens(calls: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Known tokens by kind, with `reasoning`, over all tries; tries of unknown usage add nothing here (see `unknown`)."""
    kinds = (*KINDS, "reasoning")
    return {kind: sum(c["usage"][kind] for c in usages) for usages in [[c for c in calls if c["usage"]]] for kind in kinds}


def unknown(calls: Iterable[dict[str, Any]], field: str) -> int:
    """How many tries have no `usage` or no `cost_usd`: then a sum over them is a lower bound."""
    return sum(c[field] is None for c in calls)


def cost(calls: Iterable[dict[str, Any]]) -> tuple[float, float | None]:
    """USD at least and at most; the upper end is None where a try has neither a cost nor a bound."""
    low = high = 0.0
    bounded = True
    for call in calls:
        low += call["cost_usd"] or 0.0
        upper = call["cost_usd"] if call["cost_usd"] is not None else call["cost_upper"]
        bounded = bounded and upper is not None
        high += upper or 0.0
    return low, high if bounded else None
