"""What a solved task costs."""

import math
from collections.abc import Iterator
from typing import Any

import polars as pl

from experiments.analysis.frames import Frames

SCHEMA: dict[str, Any] = {
    "method": pl.String, "category": pl.String, "unit": pl.String, "count": pl.Int64, "asked": pl.Int64,
    **dict.fromkeys(("value", "low", "high", "spent_at_least", "spent_at_most"), pl.Float64), "unknown": pl.Int64, "note": pl.String,
}  # fmt: skip
UNITS = {"tokens": "unsure", "usd": "unpriced"}
"""Each unit, and the column that says of which tries it is unknown."""
SUMS = [f"{unit}_{name}" for unit in UNITS for name in ("least", "most", "unknown")]


def per_success(frames: Frames) -> pl.DataFrame:
    """Tokens and USD per solved trajectory (`count`, of `asked`), by method and category; category null is all of a method.

    All spending is charged: failures, retries, replies without code, planners and reflectors, trajectories that have not ended. value is
    null where `unknown` tries have no known spending; low and high are then its bounds, no intervals: at least what is known, at most what
    was reserved, null where nothing bounds it. Equal to `experiments.totals.audit`, whose definitions these are (DESIGN 4.9).
    """
    whole = divided(frames, ["method"]).with_columns(category=pl.lit(None, pl.String))
    parts = [whole, divided(frames, ["method", "category"])]
    return pl.concat(part.select(pl.col(n).cast(t) for n, t in SCHEMA.items()) for part in parts).sort("method", "category", "unit")


def divided(frames: Frames, keys: list[str]) -> pl.DataFrame:
    asked = frames.asked.group_by(keys).agg(asked=pl.len(), count=pl.col("solved").sum())
    spent = asked.join(frames.calls.group_by(keys).agg(*sums()), on=keys, how="left").with_columns(pl.col(*SUMS).fill_null(0))
    return pl.concat(told(spent, unit) for unit in UNITS)


def sums() -> Iterator[pl.Expr]:
    """Spending at least and at most, and tries of which it is unknown. A sum of which a part has no bound has none: NaN."""
    for unit, unknown in UNITS.items():
        least = "tokens" if unit == "tokens" else f"{unit}_at_least"
        yield pl.col(least).cast(pl.Float64).sum().alias(f"{unit}_least")
        yield pl.col(f"{unit}_at_most").cast(pl.Float64).fill_null(math.nan).sum().alias(f"{unit}_most")
        yield pl.col(unknown).sum().cast(pl.Int64).alias(f"{unit}_unknown")


def told(spent: pl.DataFrame, unit: str) -> pl.DataFrame:
    least, most, unknown = (pl.col(f"{unit}_{name}") for name in ("least", "most", "unknown"))
    solved = pl.when(pl.col("count") > 0).then("count")
    return spent.with_columns(
        unit=pl.lit(unit), unknown=unknown, spent_at_least=least, spent_at_most=most.fill_nan(None),
        value=pl.when(unknown == 0).then(least / solved), low=least / solved, high=most.fill_nan(None) / solved,
        note=pl.when(pl.col("count") == 0).then(pl.lit("nothing solved"))
        .when(unknown > 0).then(pl.lit("low and high are bounds of spending")).otherwise(pl.lit("")),
    )  # fmt: skip
