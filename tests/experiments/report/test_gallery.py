"""The figures of the analysis in the page."""

import polars as pl
import pytest

from experiments.analysis import frames
from experiments.report import gallery
from experiments.report.figures import Figure
from tests.experiments import compared

SPEEDS = {f"quick/{i}": 0.5 + i / 4 if i % 3 else compared.FAILED for i in range(12)}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figure]:
    runs = tmp_path_factory.mktemp("runs")
    read = [compared.run(runs / name, SPEEDS, scaffold=name) for name in ("geak", "oneshot")]
    return {figure.name: figure for figure in gallery.figures(frames.load(read))}


def test_what_has_values_is_drawn_and_what_has_none_is_said(shown: dict[str, Figure]) -> None:
    assert {name for name, figure in shown.items() if figure.spec is None} == {"transitions", "deltas", "hardware"}
    assert {"by-round-solved", "matrix", "geomeans", "fast", "slower", "verdicts", "failures", "cost-usd", "deviance"} <= set(shown)


def test_a_curve_holds_the_rows_of_its_table(shown: dict[str, Figure]) -> None:
    figure = shown["anytime-solved-tokens"]
    assert figure.spec is not None
    (rows,) = figure.spec["datasets"].values()
    assert [row["value"] for row in rows] == figure.table["value"].to_list()


def test_a_note_says_whose_it_is_unless_it_is_everyones() -> None:
    table = pl.DataFrame({"method": ["a", "a", "b"], "note": ["few", "", "few"]})
    assert gallery.told(table, ["few"]) == "few."
    assert gallery.told(table.with_columns(note=pl.Series(["few", "", ""])), ["few"]) == "a: few."


def test_long_curves_are_thinned_between_their_ends() -> None:
    table = pl.DataFrame({"method": ["a"] * 999 + ["b"] * 3, "at": [*range(999), 0, 1, 2]})
    kept = gallery.thin(table)
    assert kept.filter(method="b").height == 3
    assert (kept["at"][0], kept.filter(method="a")["at"][-1]) == (0, 998)
    assert kept.filter(method="a").height <= gallery.STEPS + 1
