"""A board in words: the cells of its tables, its heading, and the summary for a pipe."""

import json
import time
from collections import Counter

from experiments.watch.board import Board, Record, Row
from experiments.watch.clean import line
from experiments.words import clock, count, grid, speedup, usd

COLUMNS = ("trajectory", "state", "node", "round", "verdict", "best", "attempts", "tokens", "usd", "time", "left")
SILENT = frozenset({"schema_version", "level", "run", "templates", "totals", "kernel_sha", "calls"})
LONGEST = 500
"""Characters of a line of the log."""
NUMBERS = frozenset({"round", "attempts", "tokens", "usd", "time"})
SIGNS = {"asked": ".", "running": ">", "solved": "+", "rounds": "-", "stagnation": "-", "declined": "x", "budget": "$", "limit": "!",
         "error": "!", "interrupted": "|", "stopped": "|", "waiting": "~"}  # fmt: skip
"""States at a glance where there are no colours."""


def state(row: Row) -> str:
    return f"{SIGNS.get(row.state, '?')} {line(row.state)}"


def fast(record: Record | None) -> str:
    """Measured, or modelled and said so."""
    if record is None:
        return "-"
    if record["speedup"] is not None:
        return f"{record['speedup']:.2f}x"
    return "passes" if record["modelled"] is None else f"{record['modelled']:.2f}x modelled"


def fast_with_interval(record: Record) -> str:
    if record["speedup"] is None:
        return fast(record) if record["verdict"] == "pass" else "-"
    return speedup(record["speedup"], record["speedup_ci"])


def left(limits: dict[str, float]) -> str:
    written = {
        "tokens": "{:,.0f} tokens",
        "usd": "${:.2f}",
        "evaluations": "{:.0f} evaluations",
        "gpu_s": "{:.0f} GPU s",
        "wall_s": "{:.0f} s",
    }
    return ", ".join(written[name].format(value) for name, value in limits.items())


def cells(board: Board, row: Row, now: float) -> list[str]:
    """In the order of `COLUMNS`; nothing of it is fit for a terminal that is not cleaned."""
    seconds = row.seconds(board.now(now))
    limits = row.spent.left(board.budget.get("trajectory") or {}, seconds or 0.0)
    return [
        line(row.name),
        state(row),
        line(row.doing),
        "" if row.round is None else str(row.round),
        line(row.last["verdict"]) if row.last else "",
        fast(row.best),
        str(len(row.attempts)),
        count(row.spent.tokens, row.spent.tokens_unknown),
        usd(row.spent.usd, row.spent.usd_unknown),
        "" if seconds is None else clock(seconds),
        left(limits) if row.group != "ended" else "",
    ]


def heading(board: Board, now: float) -> list[str]:
    """Two lines about the whole run."""
    groups = Counter(row.group for row in board.rows.values())
    solved = sum(row.best is not None for row in board.rows.values())
    best = board.best()
    device = board.run.environment["device"]["name"]
    limits = board.spent.left(board.budget, board.seconds(now))
    parts = [
        f"{groups['ended']}/{len(board.rows)} ended, {groups['running']} running, {groups['asked']} asked"
        + (f", {groups['stopped']} stopped" if groups["stopped"] else ""),
        f"{solved} with a correct kernel",
        f"best {fast(best.best)}" if best else "",
        f"{count(board.spent.tokens, board.spent.tokens_unknown)} tokens",
        usd(board.spent.usd, board.spent.usd_unknown),
        f"left: {left(limits)}" if limits else "",
    ]
    first = [
        board.state,
        clock(board.seconds(now)),
        board.run.run_id,
        str(board.run.environment["scaffold"]["name"]),
        str(board.run.environment["model"]),
        device,
    ]
    return [line(" | ".join(map(str, first))), line(" | ".join(part for part in parts if part))]


def told(raw: bytes) -> str:
    """A line of the log: time of day (UTC), event, trajectory, and what else it says."""
    try:
        body = json.loads(raw)
    except ValueError:
        return line(raw.decode(errors="replace"), LONGEST)
    at, name, where = (str(body.pop(key, "")) for key in ("timestamp", "event", "trajectory"))
    rest = [f"{key}={value}" for key, value in body.items() if key not in SILENT and value not in (None, "", [])]
    return line(" ".join((at[11:19], name, where, *rest)), LONGEST)


def summary(board: Board, now: float | None = None) -> str:
    """What a pipe gets."""
    now = time.time() if now is None else now
    rows = [cells(board, row, now) for row in board.rows.values()]
    texts = [title for title in COLUMNS if title not in NUMBERS]
    return "\n".join([*heading(board, now), "", *grid(COLUMNS, rows, texts)])
