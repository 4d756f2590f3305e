"""How many of what was asked compiled, were correct, were solved; what the attempts came to; where they failed."""

from typing import Any

import polars as pl

from experiments.analysis.frames import Frames
from experiments.analysis.intervals import wilson

OUTCOMES = ("compiled", "correct", "solved")
SHARE: dict[str, Any] = {"count": pl.Int64, "found": pl.Int64, **dict.fromkeys(("value", "low", "high"), pl.Float64)}
EXAMPLES = 3


def overview(frames: Frames) -> pl.DataFrame:
    """Of each method: trajectories asked (count), and how many, and what share, had an attempt that compiled, one that was correct, and a
    champion (DESIGN: compiled is KernelBench-X's call, correct its exe); with Wilson's interval. What was never begun counts as failed."""
    by = frames.asked.group_by("method", maintain_order=True)
    counted = by.agg(pl.col(*OUTCOMES).sum(), pl.col("attempts").sum(), pl.col("seed").n_unique().alias("seeds"), count=pl.len())
    long = counted.unpivot(OUTCOMES, index=["method", "count", "attempts", "seeds"], variable_name="outcome", value_name="found")
    return shares(long, ["method", "outcome"], "attempts", "seeds").sort(pl.col("method").rank("ordinal"), maintain_order=True)


def by_round(frames: Frames) -> pl.DataFrame:
    """Cumulative: of all trajectories asked, how many had such an attempt in `round` or before. Rounds that a trajectory did not reach
    keep what it had."""
    passed = frames.attempts.with_columns(solved=pl.col("verdict") == "pass")
    firsts = [
        passed.filter(pl.col(stage)).group_by("method", "run", "trajectory").agg(pl.col("round").min()).with_columns(stage=pl.lit(stage))
        for stage in OUTCOMES
    ]
    new = pl.concat(firsts).group_by("method", "stage", "round").agg(found=pl.len())
    grid = frames.attempts.select("method", "round").unique().join(pl.DataFrame({"stage": OUTCOMES}), how="cross")
    rows = grid.join(new, on=["method", "stage", "round"], how="left").sort("method", "stage", "round")
    total = rows.with_columns(pl.col("found").fill_null(0).cum_sum().over("method", "stage"))
    return shares(total.join(asked(frames), on="method"), ["method", "round", "stage"])


def verdicts(frames: Frames) -> pl.DataFrame:
    """Verdict mix: of a method's attempts, not of its tasks."""
    return mix(frames.attempts, ["verdict"])


def failures(frames: Frames) -> pl.DataFrame:
    """Failure classes: attempts that did not pass, by the stage that refused them, verdict and kind of error; share of all the method's
    attempts. examples: up to three, as run/trajectory/attempt."""
    keys = ["stage", "verdict", "error_kind"]
    failed = frames.attempts.filter(pl.col("verdict") != "pass")
    named = failed.with_columns(example=pl.format("{}/{}/{}", "run", "trajectory", "attempt"))
    examples = named.group_by("method", *keys).agg(examples=pl.col("example").sort().head(EXAMPLES))
    table = mix(frames.attempts, keys).filter(pl.col("verdict") != "pass")
    return table.join(examples, on=["method", *keys], how="left", nulls_equal=True, maintain_order="left")


def matrix(frames: Frames) -> pl.DataFrame:
    """Share solved of all asked, by category and method."""
    keys = ["method", "category"]
    counted = frames.asked.group_by(keys).agg(found=pl.col("solved").sum(), count=pl.len())
    return shares(counted, keys).sort("category", "method")


def mix(attempts: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """Attempts of a method by `keys`, the most frequent first."""
    counted = attempts.group_by("method", *keys).agg(found=pl.len())
    total = attempts.group_by("method").agg(count=pl.len())
    return shares(counted.join(total, on="method"), ["method", *keys]).sort("method", -pl.col("found"), *keys, maintain_order=True)


def asked(frames: Frames) -> pl.DataFrame:
    return frames.asked.group_by("method").agg(count=pl.len())


def shares(rows: pl.DataFrame, keys: list[str], *more: str) -> pl.DataFrame:
    """`found` of `count` as a share with Wilson's interval."""
    low, high = wilson(rows["found"], rows["count"])
    told = rows.with_columns(value=pl.col("found") / pl.col("count"), low=low, high=high, note=pl.lit(""))
    return told.select(*keys, *(pl.col(name).cast(kind) for name, kind in SHARE.items()), *more, "note")
