"""How fast the champions are. Measured speedups alone; what a simulated run has modelled stands under its own name."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from experiments.analysis.frames import Frames
from experiments.analysis.intervals import ENOUGH, clustered_geomean, wilson
from experiments.analysis.rates import shares
from experiments.records import geomean

THRESHOLDS = (0.5, 0.8, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)
SIMULATED = "simulated: no measured speedup"
MEANS: dict[str, Any] = {
    "method": pl.String, "over": pl.String, "measure": pl.String, "count": pl.Int64, **dict.fromkeys(("value", "low", "high"), pl.Float64),
    "note": pl.String,
}  # fmt: skip


def fast(frames: Frames, thresholds: Sequence[float] = THRESHOLDS) -> pl.DataFrame:
    """fast_p (KernelBench, section 3): share of all asked that are solved with a measured speedup above p; Wilson's interval. A method
    with a champion that was not measured has no value, since that one may be above or below."""
    counted = frames.asked.group_by("method", maintain_order=True).agg(
        *(((pl.col("speedup") > p) & pl.col("solved")).sum().alias(str(p)) for p in thresholds), count=pl.len(), open=unmeasured()
    )
    long = counted.unpivot([str(p) for p in thresholds], index=["method", "count", "open"], variable_name="threshold", value_name="found")
    table = shares(long.with_columns(pl.col("threshold").cast(pl.Float64)), ["method", "threshold"], "open")
    known = pl.col("open") == 0
    return table.select(
        "method", "threshold", "count", "found", *(pl.when(known).then(name).alias(name) for name in ("value", "low", "high")),
        note=pl.when(known).then(pl.lit("")).otherwise(pl.format("{} champions without a measured speedup", "open")),
    )  # fmt: skip


def unmeasured() -> pl.Expr:
    return (pl.col("solved") & pl.col("speedup").is_null()).sum()


def geomeans(frames: Frames, seed: int = 0) -> pl.DataFrame:
    """Geometric means of champions' speedups over eager: over the solved, and over all asked, where a failure counts as 1.0 (DESIGN 4.9).
    95 % by bootstrap over tasks. Null where a champion has none. count: what the mean is over."""
    rows = []
    for (method,), own in frames.asked.group_by("method", maintain_order=True):
        for measure, column in (("measured", "speedup"), ("modelled", "modelled")):
            if measure == "measured" or own[column].is_not_null().any():
                rows += [mean(own, over, measure, column, seed) | {"method": str(method)} for over in ("solved", "all")]
    return pl.DataFrame(rows, schema=MEANS)


def mean(own: pl.DataFrame, over: str, measure: str, column: str, seed: int) -> dict[str, Any]:
    part = own.filter("solved") if over == "solved" else own.with_columns(pl.when("solved").then(column).otherwise(1.0).alias(column))
    told = {"over": over, "measure": measure, "count": part.height}
    missing = part[column].null_count()
    if missing or not own["solved"].any():
        simulated = measure == "measured" and (own["mode"] == "simulated").any()
        return {**told, "note": SIMULATED if simulated else f"{missing} without a speedup" if missing else "nothing solved"}
    low, high = clustered_geomean(part[column], part["task"], seed)
    few = "" if part["task"].n_unique() >= ENOUGH else f"fewer than {ENOUGH} tasks: no interval"
    return {**told, "value": geomean(part[column]), "low": low, "high": high, "note": few}


def slower(frames: Frames) -> pl.DataFrame:
    """Share of attempts that passed and were measured which are slower than eager: speedup below 1 (KernelBench-X: 46.6 % of correct
    kernels). sure: those whose whole interval is below 1."""
    passed = frames.attempts.filter((pl.col("verdict") == "pass") & pl.col("speedup").is_not_null())
    methods = frames.runs.select("method", "mode").unique("method", maintain_order=True)
    counted = passed.group_by("method").agg(found=(pl.col("speedup") < 1).sum(), sure=(pl.col("speedup_high") < 1).sum(), count=pl.len())
    rows = methods.join(counted, on="method", how="left", maintain_order="left").with_columns(pl.col("found", "sure", "count").fill_null(0))
    low, high = wilson(rows["found"], rows["count"].replace(0, None))
    told = pl.when(pl.col("count") > 0).then(pl.lit("")).when(pl.col("mode") == "simulated").then(pl.lit(SIMULATED))
    value = pl.when(pl.col("count") > 0).then(pl.col("found") / pl.col("count"))
    return rows.select("method", "count", "found", "sure", value=value, note=told.otherwise(pl.lit("nothing measured"))).with_columns(
        low=pl.Series(low).fill_nan(None), high=pl.Series(high).fill_nan(None)
    )


def hardware(frames: Frames) -> pl.DataFrame:
    """Measured speedup of a task's champions on each device, geometric mean over methods and seeds; low and high are the smallest and the
    largest of them, no interval. spread: the largest device's value over the smallest's, of tasks measured on several (KernelBench-X,
    section 4: max / min over GPUs); other kernels on other devices, unless a kernel was judged again."""
    measured = frames.asked.filter(pl.col("solved") & pl.col("speedup").is_not_null())
    by = measured.group_by("task", "device").agg(
        count=pl.len(), value=pl.col("speedup").log().mean().exp(), low=pl.col("speedup").min(), high=pl.col("speedup").max()
    )
    spread = pl.col("value").max().over("task") / pl.col("value").min().over("task")
    several = pl.len().over("task") > 1
    return by.with_columns(spread=pl.when(several).then(spread), note=pl.lit("")).sort("task", "device")
