"""Two methods on the same tasks: who solves more, and whose kernels are faster."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

ENOUGH = 5
"""Tasks below which no interval is given."""


@dataclass(frozen=True)
class Outcome:
    """What became of one trajectory. `speedup` is measured, or None."""

    solved: bool
    speedup: float | None


Outcomes = Mapping[str, Sequence[Outcome]]
"""By task, one for each seed in the seeds' order."""


def paired(left: Outcomes, right: Outcomes, seed: int) -> dict[str, Any]:
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
    table = [[both, only_left], [only_right, len(every) - both - only_left - only_right]]
    solved, everything = logs(pairs, failures=False), logs(pairs, failures=True)
    whole = any(o.speedup is not None for pair in every for o in pair) and len(everything) == len(pairs)
    found, of_all = ratio(solved, seed), ratio(everything if whole else [], seed)
    return {
        "count": len(every), "tasks": len(pairs), "seeds": max(map(len, pairs.values()), default=0),
        "both": both, "only_left": only_left, "only_right": only_right, "p": float(mcnemar(table, exact=True).pvalue) if every else None,
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
    found = stats.bootstrap((np.array(values),), np.mean, method="percentile", rng=seed).confidence_interval
    return mean, math.exp(found.low), math.exp(found.high)
