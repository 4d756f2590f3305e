"""The table of tasks: what came of each trajectory that a run was asked for, from its records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from experiments import records
from experiments.report.lines import Record
from experiments.report.trajectories import Reader, standing
from experiments.runs import Run, trajectory_id

RESULTS = {"pass": "solved", "wrong": "compiled, not right", "broken": "never compiled", "none": "no verdict", "open": "not begun"}
"""What a trajectory reached: the standing of its best attempt."""


@dataclass(frozen=True)
class Row:
    """One trajectory that was asked for, ended or not."""

    record: Record
    anchor: str
    """Where the page shows the trajectory: `trajectory/<run>/<trajectory>`, each part quoted; an attempt's id may follow."""
    strip: list[tuple[str, str, int]]
    """Of each attempt, in order: its standing, what happened, its round."""

    @property
    def result(self) -> str:
        """A key of RESULTS."""
        reached = {kind for kind, _, _ in self.strip}
        return next((kind for kind in ("pass", "wrong", "broken", "none") if kind in reached), "open")


def anchor(run: str, trajectory: str) -> str:
    return f"trajectory/{quote(run, safe='')}/{quote(trajectory, safe='')}"


def rows(run: Run, reader: Reader, method: str) -> list[Row]:
    """In the order of the configuration."""
    return [row(run, reader, method, task, seed) for task, seed in run.asked]


def row(run: Run, reader: Reader, method: str, task: str, seed: int) -> Row:
    name = trajectory_id(task, seed)
    known = run.environment["asked"]["tasks"][task]
    attempts = sorted(reader.attempts.read(name), key=lambda a: (a["round"], a["attempt"]))
    told = {"run": run.run_id, "trajectory": name, "task": task, "suite": known.get("suite"), "category": known["category"], "seed": seed}
    body = {
        **told,
        "method": method,
        **came_of(attempts, next(iter(reader.endings.read(name)[::-1]), {})),
        **spent(reader.calls.read(name)),
    }
    strip = [(standing(a), f"round {a['round']}, {a['role']}: {a['verdict']}", a["round"]) for a in attempts]
    return Row(body, anchor(run.run_id, name), strip)


def came_of(attempts: Sequence[Record], ended: Record) -> Record:
    """The champion with its speed, and how it ended; of a trajectory that goes on, nothing yet."""
    best = next((a for a in attempts if a["attempt"] == ended.get("champion")), {})
    low, high = best.get("speedup_ci") or (None, None)
    return {
        "end_reason": ended.get("end_reason"), "champion": ended.get("champion"), "speedup": best.get("speedup"), "speedup_low": low,
        "speedup_high": high, "modelled": best.get("modelled"), "attempts": len(attempts), "rounds": len({a["round"] for a in attempts}),
        "wall_s": ended["end"] - ended["start"] if ended else None,
    }  # fmt: skip


def spent(calls: Sequence[Record]) -> Record:
    """Of all tries, whoever made them: at least so much, and how many tries it leaves out."""
    return {
        "calls": len({c["call_id"] for c in calls}), "tokens": records.tokens(calls)["total"], "tokens_unknown": records.unsure(calls),
        "usd": records.dollars(calls)[0], "usd_unknown": records.unpriced(calls),
    }  # fmt: skip


def choices(rows: Sequence[Row], column: str) -> list[tuple[str, Any]]:
    """The values that a filter offers, and their words."""
    values = sorted({str(row.record[column]) for row in rows if row.record[column] is not None})
    return [(value, value) for value in values]
