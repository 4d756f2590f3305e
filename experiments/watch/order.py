"""Which rows are shown, and in what order."""

from collections.abc import Sequence

from experiments.records import standing
from experiments.watch.board import Row

ORDERS = ("order asked", "state", "trajectory", "best", "attempts", "tokens", "usd")
RANKS = {"running": 0, "stopped": 1, "asked": 2, "ended": 3}


def matching(row: Row, words: str) -> bool:
    """Whether every word is in the row's name, state, node or last verdict, whatever its case."""
    held = " ".join((row.name, row.state, row.group, row.doing, row.last["verdict"] if row.last else "")).lower()
    return all(word in held for word in words.lower().split())


def ordered(rows: Sequence[Row], by: str, reverse: bool) -> list[Row]:
    """Highest numbers first; rows without one last, whichever way round."""
    if by == "order asked":
        return list(reversed(rows)) if reverse else list(rows)
    if by in ("state", "trajectory"):
        return sorted(rows, key=lambda row: (RANKS[row.group], row.state) if by == "state" else (0, row.name), reverse=reverse)
    known = [row for row in rows if row.best or by != "best"]
    return sorted(known, key=lambda row: value(row, by), reverse=not reverse) + [row for row in rows if by == "best" and not row.best]


def value(row: Row, by: str) -> tuple[float, ...]:
    if by == "best":
        return standing(row.best or {})
    return ({"attempts": len(row.attempts), "tokens": row.spent.tokens, "usd": row.spent.usd}[by],)
