"""Numbers that tables report, computed from records alone. Unknown is None; the denominator is what was asked."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

KINDS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
"""Disjoint kinds of tokens; `reasoning` is a part of output."""
CERTAIN = ("provider", "counted", "replayed")
"""Sources of usage that is whole."""


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


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """Seconds that are within at least one of the (start, end) spans."""
    total, reached = 0.0, -math.inf
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


def champion(trajectory: dict[str, Any], attempts: dict[tuple[str, str], dict[str, Any]]) -> dict[str, Any] | None:
    """The champion's attempt record, or None."""
    return attempts.get((trajectory["trajectory"], trajectory["champion"])) if trajectory["champion"] else None


def tokens(calls: Iterable[dict[str, Any]]) -> dict[str, int]:
    """Known tokens by kind, `reasoning` and their `total`, over all tries. A lower bound where `unsure` is not 0."""
    known = [c["usage"] for c in calls if c["usage"]]
    kinds = {kind: sum(usage[kind] for usage in known) for kind in (*KINDS, "reasoning")}
    return {**kinds, "total": sum(kinds[kind] for kind in KINDS)}


def unsure(calls: Iterable[dict[str, Any]]) -> int:
    """Tries that may have used more tokens than is known."""
    return sum(c["usage"] is None or c["usage_source"] not in CERTAIN for c in calls)


def unpriced(calls: Iterable[dict[str, Any]]) -> int:
    """Tries whose cost is unknown."""
    return sum(c["cost_usd"] is None for c in calls)


def dollars(calls: Sequence[dict[str, Any]]) -> tuple[float, float | None]:
    """USD at least and at most; the upper end is None where a try has neither a cost nor a bound."""
    known = [c["cost_usd"] for c in calls]
    low = math.fsum(c for c in known if c is not None)
    bounds = [c["cost_upper"] for c in calls if c["cost_usd"] is None]
    return low, None if None in bounds else low + math.fsum(bounds)
