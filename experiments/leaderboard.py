"""Methods by what they reached: `python -m experiments.leaderboard runs=[runs/<a>,runs/<b>] [format=md|json|table]`.

  runs=runs/* | [DIR,DIR,...]    many runs; those whose conditions are the same but for the seed are one row
  format=md|json|table

A row is a method under its conditions. Only measured speedups are in it; simulated runs stand in a table of their own. Ranks are given
within a board: the same tasks by digest, on the same device. Nothing that is read is changed.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from math import fsum
from typing import Any

import polars as pl
from statsmodels.stats.proportion import proportion_confint

from agents import prices
from benchmark.console import show
from benchmark.errors import UserError
from experiments import conditions, keys, methods, records, tables
from experiments.report.figures import Figure
from experiments.runs import Run
from experiments.spend import tries
from experiments.totals import line, outcomes

COLUMNS: dict[str, Any] = {
    "board": pl.String, "rank": pl.Int64, "method": pl.String, "model": pl.String, "solved": pl.Int64, "asked": pl.Int64,
    "share": pl.Float64, "low": pl.Float64, "high": pl.Float64, "fast_1": pl.Float64, "geomean_solved": pl.Float64,
    "geomean_all": pl.Float64, "tokens_per_solved": pl.Float64, "tokens_at_least": pl.Float64, "usd_per_solved": pl.Float64,
    "usd_at_least": pl.Float64, "gpu_hours": pl.Float64, "tasks": pl.Int64, "seeds": pl.List(pl.Int64), "open": pl.Int64,
    "date": pl.String, "revision": pl.String, "version": pl.String, "device": pl.String, "torch": pl.String, "triton": pl.String,
    "settings": pl.String, "runs": pl.List(pl.String),
}  # fmt: skip
MEASURED = ("fast_1", "geomean_solved", "geomean_all", "gpu_hours")
"""Columns that a simulated run has no value of."""


@dataclass(frozen=True)
class Entry:
    """Runs that differ in their seeds only."""

    runs: list[Run]

    @property
    def simulated(self) -> bool:
        return bool(self.runs[0].environment["device"]["simulated"])

    @property
    def board(self) -> str:
        """Digest of what must be the same for ranks to mean something: tasks and device."""
        told = conditions.told(self.runs[0])
        return digest({name: value for name, value in told.items() if name.startswith("tasks.") or name == "device.name"})

    def row(self) -> dict[str, Any]:
        """Denominator of every share: trajectories asked, one for each task and seed. A failure's speedup is 1.0 in geomean_all."""
        total = self.total()
        low, high = proportion_confint(total["solved"], total["asked"], method="wilson")
        champions = [best for run in self.runs for best in champions_of(run)]
        return {
            "board": self.board, "solved": total["solved"], "asked": total["asked"], "share": total["solved"] / total["asked"],
            "low": float(low), "high": float(high), "tokens_per_solved": total["tokens_per_success"],
            "tokens_at_least": total["tokens_at_least_per_success"], "usd_per_solved": total["usd_per_success"],
            "usd_at_least": total["usd_at_least_per_success"],
            "open": sum(run.open for run in self.runs),
            **(dict.fromkeys(MEASURED) if self.simulated else self.speeds(champions, total["asked"])), **self.told(),
        }  # fmt: skip

    def total(self) -> dict[str, Any]:
        """As in the audit's line of all."""
        named = [(run, run.run_id, f"{run.run_id}:") for run in self.runs]
        spent = [t for run, name, prefix in named for t in tries(run, prices.stored(run.prices), name, prefix)]
        return line(spent, [], [o for run, name, prefix in named for o in outcomes(run, name, prefix)])

    def speeds(self, champions: Sequence[dict[str, Any]], asked: int) -> dict[str, Any]:
        """fast_1 of KernelBench, section 3: correct and faster than eager, of all asked; null where a champion was not measured."""
        found = [best["speedup"] for best in champions]
        solved, everything = records.speedups(found, asked)
        fast = None if None in found else sum(value > 1 for value in found) / asked
        gpu_s = fsum(attempt["gpu_s"] or 0.0 for run in self.runs for attempt in run.attempts)
        return {"fast_1": fast, "geomean_solved": solved, "geomean_all": everything, "gpu_hours": gpu_s / 3600}

    def told(self) -> dict[str, Any]:
        known = self.runs[0].environment
        packages = known.get("packages") or {}
        settings = {name: value for name, value in conditions.told(self.runs[0]).items() if name.startswith(("config.", "scaffold."))}
        created = min(run.environment["created"] for run in self.runs)
        return {
            "method": known["scaffold"]["name"], "model": known["model"], "tasks": len(known["asked"]["tasks"]),
            "seeds": sorted({seed for run in self.runs for seed in run.environment["asked"]["seeds"]}),
            "date": datetime.fromtimestamp(created, UTC).date().isoformat(), "revision": (known.get("revision") or "")[:10] or None,
            "version": packages.get("kernelwright"), "device": known["device"]["name"], "torch": packages.get("torch"),
            "triton": packages.get("triton"), "settings": digest(settings), "runs": [run.run_id for run in self.runs],
        }  # fmt: skip


def champions_of(run: Run) -> Iterator[dict[str, Any]]:
    attempts = {(a["trajectory"], a["attempt"]): a for a in run.attempts}
    for trajectory in run.trajectories:
        best = records.champion(trajectory, attempts)
        if best is not None:
            yield best


def digest(facts: dict[str, str]) -> str:
    return sha256(repr(sorted(facts.items())).encode()).hexdigest()[:6]


def entries(runs: Sequence[Run]) -> list[Entry]:
    """A row for each method."""
    return [Entry(group) for group in methods.groups(runs)]


def figures(runs: Sequence[Run]) -> list[Figure]:
    found = entries(runs)
    measured = [entry.row() for entry in found if not entry.simulated]
    simulated = [entry.row() for entry in found if entry.simulated]
    boards = [
        Figure("measured", "Measured", MEASURED_CAPTION, ranked(measured, ("fast_1", "geomean_all", "share"))),
        Figure("simulated", "Simulated: no speedup is measured", SIMULATED_CAPTION, ranked(simulated, ("share",)).drop(*MEASURED)),
    ]
    return [board for board in boards if board.table.height]


def ranked(rows: Sequence[dict[str, Any]], by: Sequence[str]) -> pl.DataFrame:
    """Best first within a board; equal values share a rank. What is unknown ranks last."""
    order = [[-1.0 if row[key] is None else row[key] for key in by] for row in rows]
    ranks = [1 + sum(row["board"] == other["board"] and theirs > mine for other, theirs in zip(rows, order, strict=True))
             for row, mine in zip(rows, order, strict=True)]  # fmt: skip
    table = pl.DataFrame([{**row, "rank": rank} for row, rank in zip(rows, ranks, strict=True)], schema=COLUMNS)
    return table.sort("board", "rank", "method")


SPENDING = (
    "share: solved of asked (tasks x seeds), with Wilson's 95 % interval, seeds taken as independent. Per solved: all spending, failures "
    "and retries included; empty where unknown, then at_least bounds it. open: not ended yet, counted as not solved. "
    "settings: digest of configuration and scaffold options; rows are of one board where tasks and device are the same."
)
MEASURED_CAPTION = (
    "Ranked by fast_1 (solved and faster than eager, of asked; KernelBench, section 3), then geomean_all, then share. geomean_all counts a "
    f"failure as 1.0. gpu_hours: of evaluations. {SPENDING}"
)
SIMULATED_CAPTION = f"Ranked by share. {SPENDING}"


def begun(runs: Sequence[Run]) -> tuple[list[Run], list[str]]:
    """The runs that can be read, and a sentence for each other one: a run that was killed before it began asked nothing."""
    found, left_out = [], []
    for run in runs:
        try:
            _ = run.environment
            found.append(run)
        except UserError as error:
            left_out.append(f"left out: {error}")
    if not found:
        raise UserError(" ".join(left_out))
    return found, left_out


def act(words: Sequence[str]) -> int:
    chosen = keys.chosen(words, ("run", "runs", "format"))
    write = tables.FORMATS[keys.one_of("format", chosen.get("format", "md"), tables.FORMATS)]
    runs, left_out = begun(keys.runs(chosen, "experiments.leaderboard"))
    boards = figures(runs)
    show(write(boards, [*left_out, *(f"{run.run_id}: {note}" for run in runs for note in run.notes())]).rstrip("\n"))
    return 0


def main() -> int:
    return keys.command(str(__doc__), act)


if __name__ == "__main__":
    sys.exit(main())
