"""Intervals of 95 %, and how few data have none."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

ENOUGH = 5
"""Values, or tasks, below which a bootstrap says nothing."""
RESAMPLES = 9_999
BATCH = 10_000_000
"""Values that the bootstrap draws at once: 80 MB."""


def wilson(successes: Any, asked: Any) -> tuple[Any, Any]:
    """Wilson's score interval of a share (Wilson 1927), without correction for continuity; of two numbers, or of two series."""
    return proportion_confint(successes, asked, method="wilson")


def clustered_geomean(
    values: pl.Series | Sequence[float], tasks: pl.Series | Sequence[str], seed: int
) -> tuple[float | None, float | None]:
    """Of a geometric mean: percentile bootstrap over tasks, each with all its values, since those of one task are alike.

    A resample's mean is over all values drawn. None below `ENOUGH` tasks.
    """
    logs = pl.DataFrame({"task": tasks, "log": values}, schema={"task": pl.String, "log": pl.Float64}).with_columns(pl.col("log").log())
    clusters = logs.group_by("task", maintain_order=True).agg(total=pl.col("log").sum(), count=pl.len())
    if clusters.height < ENOUGH:
        return None, None
    total, count = clusters["total"].to_numpy(), clusters["count"].to_numpy().astype(float)
    found = stats.bootstrap(
        (total, count), lambda t, c, axis: t.sum(axis=axis) / c.sum(axis=axis), paired=True, vectorized=True, method="percentile",
        n_resamples=RESAMPLES, batch=max(1, BATCH // clusters.height), rng=seed,
    ).confidence_interval  # fmt: skip
    return float(np.exp(found.low)), float(np.exp(found.high))
