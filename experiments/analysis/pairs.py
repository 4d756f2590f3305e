"""Two methods on the same tasks: who solves more, and whose kernels are faster."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

if TYPE_CHECKING:
    from experiments.analysis.frames import Frames

SCHEMA = {
    "left": pl.String, "right": pl.String, **dict.fromkeys(("count", "tasks", "seeds", "both", "only_left", "only_right"), pl.Int64),
    "p": pl.Float64, "p_holm": pl.Float64, "faster_pairs": pl.Int64,
    **dict.fromkeys(("ratio", "low", "high", "ratio_all", "low_all", "high_all"), pl.Float64), "note": pl.String,
}  # fmt: skip
ENOUGH = 5
"""Tasks below which no interval is given."""
BATCH = 10_000_000
"""Values that the bootstrap draws at once: 80 MB."""


@dataclass(frozen=True)
class Outcome:
    """What became of one trajectory. `speedup` is measured, or None."""

    solved: bool
    speedup: float | None


Outcomes = Mapping[str, Sequence[Outcome]]
"""By task, one for each seed in the seeds' order."""


def everyone(frames: "Frames", seed: int = 0) -> pl.DataFrame:
    """Each two methods, one row: `paired`, with p corrected for all rows."""
    methods = frames.asked["method"].unique(maintain_order=True).to_list()
    return table([row(frames, left, right, seed) for left, right in combinations(methods, 2)])


def paired(frames: "Frames", left: str, right: str, seed: int = 0) -> pl.DataFrame:
    """Two methods by their labels, on the tasks that both were asked: one row with the figures of `contrast`."""
    return table([row(frames, left, right, seed)])


def table(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The rows with `p_holm`: corrected for as many tests as there are rows with one."""
    corrected = holm([row["p"] for row in rows])
    return pl.DataFrame([{**row, "p_holm": p} for row, p in zip(rows, corrected, strict=True)], schema=SCHEMA)


def row(frames: "Frames", left: str, right: str, seed: int) -> dict[str, Any]:
    found = contrast(outcomes(frames.asked, left), outcomes(frames.asked, right), seed)
    return {"left": left, "right": right, **found, "note": "; ".join(cautions(frames, left, right, found))}


def outcomes(asked: pl.DataFrame, method: str) -> Outcomes:
    told = asked.filter(pl.col("method") == method).sort("task", "seed", maintain_order=True)
    found: dict[str, list[Outcome]] = {}
    for task, solved, speedup in told.select("task", "solved", "speedup").iter_rows():
        found.setdefault(task, []).append(Outcome(bool(solved), speedup))
    return found


def cautions(frames: "Frames", left: str, right: str, found: Mapping[str, Any]) -> Iterator[str]:
    """What stands between the numbers and a conclusion."""
    of = [frames.runs.filter(pl.col("method") == method) for method in (left, right)]
    seeds = [frames.asked.filter(pl.col("method") == method)["seed"].n_unique() for method in (left, right)]
    if any("simulated" in runs["mode"] for runs in of):
        yield "no speedup: simulated"
    if set(of[0]["device"]) != set(of[1]["device"]):
        yield "the devices differ, and with them the speedups"
    yield from limits(found, seeds)


def limits(found: Mapping[str, Any], seeds: Sequence[int]) -> Iterator[str]:
    """What the numbers of tasks and of each side's seeds do not allow."""
    if not found["count"]:
        yield "no task in common"
    if seeds[0] != seeds[1]:
        yield f"{seeds[0]} and {seeds[1]} seeds: the first {min(seeds)} of each count"
    if min(seeds) == 1:
        yield "one seed: chance in the models' replies is not in the intervals"
    if found["ratio"] and found["low"] is None:
        yield f"{found['faster_pairs']} tasks solved by both: too few for an interval"


def contrast(left: Outcomes, right: Outcomes, seed: int) -> dict[str, Any]:
    """Over tasks of both, the k-th seed of one with the k-th of the other. `count` is the pairs, `seeds` how many each task has.

    p: McNemar's exact test of solved, on the discordant pairs; several seeds of a task count as if they were independent.
    ratio: geometric mean of left's speedup over right's where both are solved and measured; its interval is a percentile bootstrap over
    tasks, each with the mean of its log-ratios. ratio_all: over all pairs, a failure as 1.0; null where nothing, or not all, was measured.
    """
    pairs = {task: list(zip(left[task], right[task], strict=False)) for task in left if task in right}
    every = [pair for several in pairs.values() for pair in several]
    only_left = sum(a.solved and not b.solved for a, b in every)
    only_right = sum(b.solved and not a.solved for a, b in every)
    both = sum(a.solved and b.solved for a, b in every)
    counts = [[both, only_left], [only_right, len(every) - both - only_left - only_right]]
    solved, everything = logs(pairs, failures=False), logs(pairs, failures=True)
    whole = any(o.speedup is not None for pair in every for o in pair) and len(everything) == len(pairs)
    found, of_all = ratio(solved, seed), ratio(everything if whole else [], seed)
    return {
        "count": len(every), "tasks": len(pairs), "seeds": max(map(len, pairs.values()), default=0),
        "both": both, "only_left": only_left, "only_right": only_right, "p": float(mcnemar(counts, exact=True).pvalue) if every else None,
        "faster_pairs": len(solved), "ratio": found[0], "low": found[1], "high": found[2],
        "ratio_all": of_all[0], "low_all": of_all[1], "high_all": of_all[2],
    }  # fmt: skip


def logs(pairs: Mapping[str, Sequence[tuple[Outcome, Outcome]]], failures: bool) -> list[float]:
    """A mean log-ratio for each task that has one: of pairs solved on both sides, or of all with failures as 1.0."""
    found = []
    for several in pairs.values():
        values = [(speed(a, failures), speed(b, failures)) for a, b in several]
        known = [math.log(a / b) for a, b in values if a is not None and b is not None]
        if known and (not failures or len(known) == len(values)):
            found.append(fmean(known))
    return found


def speed(outcome: Outcome, failures: bool) -> float | None:
    return outcome.speedup if outcome.solved else 1.0 if failures else None


def ratio(values: Sequence[float], seed: int) -> tuple[float | None, float | None, float | None]:
    """exp of the mean, with its 95 % interval."""
    if not values:
        return None, None, None
    mean = math.exp(fmean(values))
    if len(values) < ENOUGH:
        return mean, None, None
    batch = max(1, BATCH // len(values))
    found = stats.bootstrap((np.array(values),), np.mean, method="percentile", batch=batch, rng=seed).confidence_interval
    return mean, math.exp(found.low), math.exp(found.high)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Corrected for as many tests as there are (Holm 1979)."""
    known = [value for value in values if value is not None]
    corrected = iter(multipletests(known, method="holm")[1] if known else [])
    return [None if value is None else float(next(corrected)) for value in values]
