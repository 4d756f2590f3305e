"""The charts of the page and the scripts that draw them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import altair as alt
import polars as pl

from experiments import compare
from experiments.report import vega
from experiments.report.figures import PALETTE, Figure
from experiments.runs import Run

STEP = 34
"""Pixels of a row."""

scripts = vega.scripts


def figures(runs: Sequence[Run]) -> list[Figure]:
    """In the order of the page: the comparison of the runs, or of one run its figures alone."""
    found = compare.figures(runs)
    shown = found if len(runs) > 1 else [figure for figure in found if figure.name == "compare-methods"]
    return [replace(figure, spec=spec(figure)) for figure in shown]


def spec(figure: Figure) -> dict[str, Any] | None:
    match figure.name:
        case "compare-methods":
            return solved(figure.table)
        case "compare-pairs":
            return ratios(figure.table)
    return None


def solved(table: pl.DataFrame) -> dict[str, Any]:
    """Share solved with its interval, from 0 to 1."""
    data = table.select("method", "share", "low", "high", "solved", "asked").with_columns(
        told=pl.format("{} of {}", "solved", "asked"),
    )
    return intervals(data, "method", alt.X("share:Q", title="share solved", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")))


def ratios(table: pl.DataFrame) -> dict[str, Any] | None:
    """Left's speedup over right's on a log axis with the line of no difference; None where nothing was measured."""
    data = table.filter(pl.col("ratio").is_not_null()).select(
        "ratio", "low", "high", pair=pl.format("{} / {}", "left", "right"), told=pl.format("{} tasks", "faster_pairs")
    )
    if data.is_empty():
        return None
    chart = intervals(data, "pair", alt.X("ratio:Q", title="ratio of speedups (log)", scale=alt.Scale(type="log", nice=True, zero=False)))
    rule = {"mark": {"type": "rule", "strokeDash": [4, 3]}, "encoding": {"x": {"datum": 1}}}
    return {**chart, "layer": [rule, *chart["layer"]]}


def intervals(data: pl.DataFrame, label: str, x: alt.X) -> dict[str, Any]:
    """A point, its 95 % interval where it has one, and its count beside the interval, for each row."""
    base = alt.Chart(alt.InlineData(values=data.to_dicts())).encode(
        y=alt.Y(f"{label}:N", title=None, sort=None, axis=alt.Axis(labelLimit=260))
    )
    line = base.mark_rule(strokeWidth=2, color=PALETTE[0]).transform_filter("datum.low !== null").encode(x=alt.X("low:Q"), x2="high:Q")
    point = base.mark_point(filled=True, size=70, opacity=1, color=PALETTE[0]).encode(x=x)
    count = base.mark_text(align="left", baseline="bottom", dx=6, dy=-4).encode(x=x, text="told:N")
    chart = alt.layer(line, point, count).properties(width="container", height=STEP * data.height, description=f"{x.title}, by {label}")
    return dict(chart.to_dict())
