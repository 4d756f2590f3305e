"""Best so far against what was spent: how much of what was asked would be solved, had every trajectory been stopped there."""

import polars as pl
from scipy import stats

from experiments.analysis.frames import Frames
from experiments.analysis.intervals import ENOUGH, wilson

TRAJECTORY = ("run", "trajectory")
AXES = {"rounds": pl.col("round") + 1, "tokens": pl.col("tokens_so_far"), "usd": pl.col("usd_so_far"), "gpu_s": pl.col("gpu_s_so_far")}
"""What an attempt's outcome is known after: rounds begun, or spending of its trajectory, planners' and reflectors' calls included."""
SCHEMA = {
    "method": pl.String, "axis": pl.String, "measure": pl.String, "at": pl.Float64, "count": pl.Int64,
    **dict.fromkeys(("value", "low", "high"), pl.Float64), "note": pl.String,
}  # fmt: skip


def curves(frames: Frames, axis: str) -> pl.DataFrame:
    """Step curves, from 0 to the most that a trajectory of the method spent: `value` holds from `at` to the next row's.

    solved: share of asked with a passing attempt; Wilson's interval, trajectories taken as independent. geomean: of the best measured
    speedup so far, over all asked, a failure as 1.0; null where one that passed is not measured; interval of Student's t on the logarithms.
    modelled: the same of modelled speedups, of simulated methods only, whose geomean is null.
    axis: `rounds` begun, `tokens`, `usd` or `gpu_s` of a trajectory. Where a call's spending is unknown, `at` is at least; note says so.
    """
    asked = frames.asked.group_by("method").agg(count=pl.len())
    events = changes(improvements(frames.attempts, AXES[axis]))
    rows = pl.concat([events, ends(frames, axis, events)]).group_by("method", "at").sum().sort("method", "at")
    totals = rows.with_columns(pl.exclude("method", "at").cum_sum().over("method")).join(asked, on="method", maintain_order="left")
    told = totals.join(notes(frames, axis), on="method", maintain_order="left")
    parts = [solved(told), means(told, "geomean"), means(told.filter("simulated"), "modelled")]
    return pl.concat([steps(part) for part in parts]).with_columns(axis=pl.lit(axis)).select(pl.col(n).cast(t) for n, t in SCHEMA.items())


def improvements(attempts: pl.DataFrame, at: pl.Expr) -> pl.DataFrame:
    """For each trajectory that passed, after each passing attempt: logarithms of its best speedups so far."""
    best = [pl.col(name).log().cum_max().forward_fill().over(TRAJECTORY).alias(name) for name in ("speedup", "modelled")]
    passing = attempts.filter(pl.col("verdict") == "pass").with_columns(at=at.cast(pl.Float64))
    return passing.sort(*TRAJECTORY, "at", "order").select("method", *TRAJECTORY, "at", *best)


def changes(best: pl.DataFrame) -> pl.DataFrame:
    """What each improvement adds to its method's sums, so that a running total is the state of all trajectories."""
    terms = {"solved": pl.lit(1.0)}
    for measure, name in (("geomean", "speedup"), ("modelled", "modelled")):
        log = pl.col(name).fill_null(0.0)
        terms |= {f"{measure}_sum": log, f"{measure}_squares": log * log, f"{measure}_missing": pl.col(name).is_null().cast(pl.Float64)}
    sums = best.with_columns(**terms)
    added = [(pl.col(name) - pl.col(name).shift(1).over(TRAJECTORY).fill_null(0.0)).alias(name) for name in terms]
    return sums.select("method", "at", *added)


def ends(frames: Frames, axis: str, events: pl.DataFrame) -> pl.DataFrame:
    """Rows that change nothing, where the curves begin and end."""
    spent = frames.asked.group_by("method").agg(at=pl.col(axis).max().cast(pl.Float64).fill_null(0.0))
    last = pl.concat([spent, events.select("method", "at")]).group_by("method").agg(pl.col("at").max())
    both = pl.concat([last, last.with_columns(at=pl.lit(0.0))])
    return both.with_columns(pl.lit(0.0).alias(name) for name in events.columns[2:])


def notes(frames: Frames, axis: str) -> pl.DataFrame:
    """Of each method: whether it is simulated, and what stands against reading its curves."""
    unknown = f"{axis}_unknown"
    count = pl.col(unknown).sum() if unknown in frames.asked.columns else pl.lit(0)
    counted = frames.asked.group_by("method").agg(unknown=count)
    modes = frames.runs.group_by("method").agg(simulated=(pl.col("mode") == "simulated").any())
    told = pl.when(pl.col("unknown") > 0).then(pl.format("{} calls of unknown spending: `at` is at least", "unknown")).otherwise(pl.lit(""))
    return counted.join(modes, on="method").select("method", "simulated", spending=told)


def solved(totals: pl.DataFrame) -> pl.DataFrame:
    share = pl.col("solved") / pl.col("count")
    low, high = wilson(totals["solved"], totals["count"])
    return totals.select("method", "at", "count", measure=pl.lit("solved"), value=share, note="spending").with_columns(low=low, high=high)


def means(totals: pl.DataFrame, measure: str) -> pl.DataFrame:
    """The geometric mean over all; a single one that passed without a speedup leaves it unknown, since it is no failure."""
    count, mean = pl.col("count"), pl.col(f"{measure}_sum") / pl.col("count")
    simulated = pl.col("simulated") & pl.lit(measure == "geomean")
    known = (pl.col(f"{measure}_missing").round() == 0) & ~simulated
    deviations = (pl.col(f"{measure}_squares") - count * mean.pow(2)).clip(lower_bound=0.0)
    quantile = pl.Series(stats.t.ppf(0.975, totals["count"].to_numpy() - 1))
    half = (deviations / (count - 1) / count).sqrt() * quantile
    enough = known & (count >= ENOUGH)
    missing = pl.when(simulated).then(pl.lit("simulated: no measured speedup")).when(~known).then(pl.lit("passed without a speedup"))
    return totals.select(
        "method", "at", "count", measure=pl.lit(measure), value=pl.when(known).then(mean.exp()),
        low=pl.when(enough).then((mean - half).exp()), high=pl.when(enough).then((mean + half).exp()),
        note=pl.concat_str(missing, pl.when(pl.col("spending") != "").then("spending"), separator="; ", ignore_nulls=True),
    )  # fmt: skip


def steps(part: pl.DataFrame) -> pl.DataFrame:
    """Rows at which the value changes, the first and the last."""
    changed = (
        pl.col("value").ne_missing(pl.col("value").shift(1)) | (pl.int_range(pl.len()) == 0) | (pl.int_range(pl.len()) == pl.len() - 1)
    )
    return part.filter(changed.over("method")).select("method", "measure", "at", "count", "value", "low", "high", "note")
