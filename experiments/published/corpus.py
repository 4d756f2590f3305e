"""Figures of the trajectory corpus: transitions, rescued against persistent speedups, same-task deltas and their noise.

Correct is `exe_ok`, compiled is `call_ok`; a speedup is theirs, stored golden milliseconds over the candidate's, both summed over sizes.
Each figure stands for all records and for those of the official tasks, which are the tasks of the paper.
"""

import math
from collections.abc import Iterator

import numpy as np
import polars as pl
from scipy import stats

from experiments.published.kernelbench_x import Checkout
from experiments.records import geomean
from experiments.report.figures import Figure

ENOUGH = 5
"""Values below which no interval is given."""


def figures(checkout: Checkout, seed: int = 0) -> list[Figure]:
    return [sizes(checkout), transitions(checkout), speedups(checkout, seed), deltas(checkout, seed), noise(checkout)]


def scopes(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    yield "all", frame
    yield "official", frame.filter("official")


def by_step(frame: pl.DataFrame) -> Iterator[tuple[str, str, pl.DataFrame]]:
    for scope, part in scopes(frame):
        for step in sorted(part["step"].unique()):
            yield scope, f"{step} to {step + 1}", part.filter(pl.col("step") == step)


def sizes(checkout: Checkout) -> Figure:
    changes, official = checkout.changes, checkout.official
    rows = [
        ("records", changes.height, changes["official"].sum()),
        ("tasks", changes["name"].n_unique(), changes.filter("official")["name"].n_unique()),
        ("timed states (task and round)", checkout.timed.height, checkout.timed["official"].sum()),
        ("correct states without triton.jit", *plain_states(changes)),
    ]
    table = pl.DataFrame(rows, schema=["what", "count", "official"], orient="row")
    caption = f"{len(official)} tasks are official; a name counts, since categories were renamed after the corpus was made."
    return Figure("corpus-size", "What the corpus holds", caption, table)


def plain_states(changes: pl.DataFrame) -> tuple[int, int]:
    """Correct codes after a step that have no Triton kernel at all: of all records and of official ones."""
    plain = changes.filter(pl.col("correct_after") & ~pl.col("jit_after"))
    return plain.height, int(plain["official"].sum())


def transitions(checkout: Checkout) -> Figure:
    rows = []
    for scope, step, part in by_step(checkout.changes):
        gained = part.filter(~pl.col("compiled_before") & pl.col("compiled_after")).height
        lost = part.filter(pl.col("compiled_before") & ~pl.col("compiled_after")).height
        kinds = [part.filter(pl.col("kind") == kind).height for kind in ("rescued", "regressed", "persistent", "never")]
        rows.append((scope, step, part.height, gained, lost, *kinds))
    head = ["tasks", "rounds", "count", "compiled_gained", "compiled_lost", "rescued", "regressed", "persistent", "never"]
    caption = (
        "Records by what happened between two rounds. Rescued: correct only after; regressed: only before; persistent: both; "
        "never: neither. "
        "Tasks that did not change have no record, so persistent and never are lower bounds."
    )
    return Figure("corpus-transitions", "Transitions", caption, pl.DataFrame(rows, schema=head, orient="row"))


def speedups(checkout: Checkout, seed: int) -> Figure:
    rows = []
    for scope, step, part in by_step(checkout.changes):
        for kind in ("rescued", "persistent"):
            values = part.filter(pl.col("kind") == kind)["speedup_after"].drop_nulls().to_list()
            if values:
                rows.append((scope, step, kind, *summary(values, seed)))
    head = ["tasks", "rounds", "kind", "count", "mean", "median", "geomean", "low", "high", "below_1"]
    caption = (
        "Speedup after the step, of the records that have one. The mean is arithmetic, as theirs; the interval (95 %, bootstrap over "
        "tasks) is of the geometric mean. Persistent holds only tasks whose speedup rose."
    )
    return Figure("corpus-speedups", "Rescued and persistent", caption, pl.DataFrame(rows, schema=head, orient="row"))


def summary(values: list[float], seed: int) -> tuple[object, ...]:
    """count, mean, median, geometric mean with interval, share below 1."""
    series = pl.Series(values)
    low, high = interval(values, seed)
    return len(values), series.mean(), series.median(), geomean(values), low, high, (series < 1).mean()


def interval(values: list[float], seed: int) -> tuple[float | None, float | None]:
    """95 % of the geometric mean, by the percentiles of 9,999 resamples; None of too few values."""
    if len(values) < ENOUGH:
        return None, None
    found = stats.bootstrap((np.log(values),), np.mean, method="percentile", rng=seed).confidence_interval
    return math.exp(found.low), math.exp(found.high)


def ratios(checkout: Checkout) -> pl.DataFrame:
    """Records with a speedup before and after, and their ratio."""
    both = checkout.changes.drop_nulls(["speedup_before", "speedup_after"])
    return both.with_columns(ratio=pl.col("speedup_after") / pl.col("speedup_before"))


def deltas(checkout: Checkout, seed: int) -> Figure:
    rows = []
    for scope, step, part in by_step(ratios(checkout)):
        for code, same in (("changed", False), ("byte-identical", True)):
            values = part.filter(pl.col("same_code") == same)["ratio"].to_list()
            if values:
                low, high = interval(values, seed)
                rows.append((scope, step, code, len(values), geomean(values), low, high, pl.Series(values).median(), max(values)))
    head = ["tasks", "rounds", "code", "count", "geomean", "low", "high", "median", "largest"]
    caption = (
        "Speedup after over speedup before, of the same task, correct and timed at both ends. Byte-identical codes were only timed again: "
        "their ratio is noise. No ratio below 1 is in the corpus, so all of these are biased upwards."
    )
    return Figure("corpus-deltas", "Same-task deltas", caption, pl.DataFrame(rows, schema=head, orient="row"))


def noise(checkout: Checkout) -> Figure:
    """Changed codes against byte-identical ones, both selected for having become faster."""
    rows = []
    for scope, part in scopes(ratios(checkout)):
        same, changed = (part.filter(pl.col("same_code") == flag)["ratio"] for flag in (True, False))
        if same.len() and changed.len():
            bound = same.quantile(0.95, "linear")
            p = stats.mannwhitneyu(changed.to_numpy(), same.to_numpy(), alternative="greater").pvalue
            rows.append(
                (scope, same.len(), bound, same.max(), changed.len(), int((changed > bound).sum()), int((changed > same.max()).sum()), p)
            )
    head = ["tasks", "identical", "identical_95", "identical_max", "changed", "changed_above_95", "changed_above_max", "p"]
    caption = (
        "How many changed codes rose by more than re-timed identical ones: above their 95 % quantile and above their largest. "
        "p: Mann-Whitney, one-sided, changed above identical; both sides hold increases only."
    )
    return Figure("corpus-noise", "Deltas against noise", caption, pl.DataFrame(rows, schema=head, orient="row"))
