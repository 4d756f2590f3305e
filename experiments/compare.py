"""Runs beside each other: `python -m experiments.compare runs=[runs/<a>,runs/<b>] [key=value ...]`.

  runs=[DIR,DIR,...]       two runs or more; runs that differ in their seeds only are one method
  format=table|json|md
  seed=0                   of the bootstrap

What is not the same in the runs (device, versions, settings, tasks, seeds, budgets), each method's figures, and every pair of methods on
the tasks that both were asked: McNemar's exact test of solved, ratio of speedups with interval. Nothing that is read is changed.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import polars as pl

from benchmark.console import show
from benchmark.errors import UserError
from experiments import conditions, keys, methods, records, tables
from experiments.analysis.pairs import Outcome, contrast, limits, table
from experiments.leaderboard import COLUMNS, MEASURED, Entry, entries
from experiments.report.figures import Figure
from experiments.runs import Run, trajectory_id

SHOWN = ("solved", "asked", "share", "low", "high", *MEASURED, "tokens_per_solved", "tokens_at_least", "usd_per_solved", "usd_at_least",
         "open", "seeds")  # fmt: skip


def figures(runs: Sequence[Run], seed: int = 0) -> list[Figure]:
    """The comparison, as the report shows it too."""
    found = entries(runs)
    labels = methods.labels([entry.runs for entry in found])
    return [differences(found, labels), overview(found, labels), *pairs(found, labels, seed)]


def differences(found: Sequence[Entry], labels: Sequence[str]) -> Figure:
    differing = conditions.differing([entry.runs[0] for entry in found])
    seeds = [", ".join(map(str, seeds_of(entry))) for entry in found]
    differing.pop(conditions.SEEDS, None)
    if len(set(seeds)) > 1:
        differing[conditions.SEEDS] = seeds
    rows = [(name, *row) for name, row in differing.items()]
    caption = (
        "Everything else that is recorded of the runs is the same. Sets of tasks and of prompts have a letter each, the same for the same."
    )
    table = pl.DataFrame(rows, schema=dict.fromkeys(["condition", *labels], pl.String), orient="row")
    return Figure("compare-conditions", "Conditions that differ", caption, table)


def seeds_of(entry: Entry) -> list[int]:
    return sorted(seed for run in entry.runs for seed in run.environment["asked"]["seeds"])


def overview(found: Sequence[Entry], labels: Sequence[str]) -> Figure:
    rows = [{**{key: row[key] for key in SHOWN}, "method": label} for label, row in zip(labels, (e.row() for e in found), strict=True)]
    table = pl.DataFrame(rows, schema={"method": pl.String, **{key: COLUMNS[key] for key in SHOWN}})
    caption = (
        "Of tasks x seeds asked: solved, with Wilson's 95 % interval; fast_1: solved and faster than eager; geometric means over the "
        "solved and over all, a failure as 1.0 (KernelBench, section 3). Per solved: all spending; empty where unknown, then at_least "
        "bounds it."
    )
    simulated = [label for label, entry in zip(labels, found, strict=True) if entry.simulated]
    note = f"Simulated, so without a measured speedup: {', '.join(simulated)}." if simulated else ""
    return Figure("compare-methods", "Methods", caption, table, note=note)


def pairs(found: Sequence[Entry], labels: Sequence[str], seed: int) -> list[Figure]:
    """One row for each two methods; none where there is one."""
    both = list(combinations(zip(labels, found, strict=True), 2))
    if not both:
        return []
    rows = [{"left": left, "right": right, **pair(one, other, seed)} for (left, one), (right, other) in both]
    told = {f"{task} ({why})" for (_, one), (_, other) in both for task, why in apart(one, other)[1].items()}
    caption = (
        "Tasks that both were asked, with the same cases and reference; the k-th seed of one stands against the k-th of the other. "
        "p: McNemar, exact, of solved; p_holm: corrected for all pairs. ratio: left's speedup over right's, geometric mean where both are "
        "solved, interval by bootstrap over tasks; ratio_all: over all pairs, a failure as 1.0."
    )
    note = f"Not shared, and in no pair: {', '.join(sorted(told))}." if told else ""
    return [Figure("compare-pairs", "Pairs on the same tasks", caption, table(rows), note=note)]


def apart(one: Entry, other: Entry) -> tuple[set[str], dict[str, str]]:
    return conditions.shared_tasks([one.runs[0], other.runs[0]])


def pair(one: Entry, other: Entry, seed: int) -> dict[str, Any]:
    shared, _ = apart(one, other)
    measured = not (one.simulated or other.simulated)
    left, right = ({task: told for task, told in outcomes(e, measured).items() if task in shared} for e in (one, other))
    found = contrast(left, right, seed)
    return {**found, "note": "; ".join(cautions(one, other, found))}


def cautions(one: Entry, other: Entry, found: Mapping[str, Any]) -> Iterator[str]:
    """What stands between the numbers and a conclusion."""
    if one.simulated or other.simulated:
        yield "no speedup: simulated"
    if len({entry.runs[0].environment["device"]["name"] for entry in (one, other)}) > 1:
        yield "the devices differ, and with them the speedups"
    yield from limits(found, [len(seeds_of(entry)) for entry in (one, other)])


def outcomes(entry: Entry, measured: bool) -> dict[str, list[Outcome]]:
    """By task, of each seed in order; what has not ended is not solved."""
    best: dict[tuple[str, int], Outcome] = {}
    for run in entry.runs:
        attempts = {(a["trajectory"], a["attempt"]): a for a in run.attempts}
        champions = {t["trajectory"]: records.champion(t, attempts) for t in run.trajectories}
        for task, seed in run.asked:
            found = champions.get(trajectory_id(task, seed))
            best[task, seed] = Outcome(found is not None, found["speedup"] if found and measured else None)
    return {task: [best[key] for key in sorted(best) if key[0] == task] for task in dict.fromkeys(task for task, _ in best)}


def act(words: Sequence[str]) -> int:
    chosen = keys.chosen(words, ("runs", "format", "seed"))
    write = tables.FORMATS[keys.one_of("format", chosen.get("format", "table"), tables.FORMATS)]
    runs = keys.runs(chosen, "experiments.compare")
    if len(runs) < 2:
        raise UserError("One run cannot be compared: name two or more, runs=[runs/<a>,runs/<b>].")
    found = figures(runs, keys.whole(chosen, "seed", 0))
    show(write(found, [f"{run.run_id}: {note}" for run in runs for note in run.notes()]).rstrip("\n"))
    return 0


def main() -> int:
    return keys.command(str(__doc__), act)


if __name__ == "__main__":
    sys.exit(main())
