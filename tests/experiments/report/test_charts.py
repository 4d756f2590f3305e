"""What is drawn of a table, and what is not."""

from typing import Any

import polars as pl
import pytest

from experiments.report import charts, plots

TABLE = pl.DataFrame({
    "method": ["a", "a", "b", "b"], "round": [0, 1, 0, 1], "count": [6, 6, 6, 6], "value": [0.5, None, 0.25, 0.75],
    "low": [0.25, None, None, 0.5], "high": [0.75, None, None, 1.0], "note": ["", "few", "few", ""],
})  # fmt: skip


def values(spec: plots.Spec | None, field: str = "value") -> list[Any]:
    """Of the rows that a chart holds."""
    assert spec is not None
    return [row[field] for rows in spec["datasets"].values() for row in rows]


@pytest.mark.parametrize(
    "spec",
    [
        plots.rows(TABLE, "method", "share", ["a", "b"]),
        plots.curves(TABLE, "round", "round", "share", ["a", "b"]),
        plots.stacks(TABLE.with_columns(part=pl.lit("x")), "method", "part", "share", {"x": "#123456"}),
        plots.heat(TABLE.with_columns(part=pl.lit("x")), "part", "share", ["a", "b"]),
    ],
)
def test_a_chart_holds_the_rows_that_have_a_value(spec: plots.Spec | None) -> None:
    assert values(spec) == [0.5, 0.25, 0.75]


def test_a_table_without_any_value_has_no_chart() -> None:
    empty = TABLE.with_columns(value=pl.lit(None, pl.Float64), part=pl.lit("x"))
    assert plots.rows(empty, "method", "share") is None
    assert plots.curves(empty, "round", "round", "share", ["a"]) is None
    assert plots.stacks(empty, "method", "part", "share", {}) is None
    assert plots.heat(empty, "part", "share", ["a"]) is None


def test_a_method_has_one_colour_in_every_chart() -> None:
    drawn: list[Any] = [plots.by_method(["a", "b"], legend=legend).to_dict() for legend in (True, False)]
    assert drawn[0]["scale"] == drawn[1]["scale"]


def test_ratios_nobody_measured_have_no_chart() -> None:
    table = pl.DataFrame({"left": ["a"], "right": ["b"], "ratio": [None], "low": [None], "high": [None], "faster_pairs": [0]})
    assert charts.ratios(table) is None
    assert values(charts.ratios(table.with_columns(ratio=2.0, low=1.5, high=2.5))) == [1.0, 2.0]


def test_a_log_axis_has_no_difference_in_it_and_every_interval() -> None:
    low, high = plots.ratios(TABLE.with_columns(high=pl.lit(8.0)))
    assert low < 0.25
    assert high > 8
    assert plots.ratios(TABLE.with_columns(value=pl.lit(1.0), low=None, high=None)) == pytest.approx([0.76, 1.3125])
