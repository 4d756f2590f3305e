"""The data of a figure as the page's table."""

import polars as pl
import pytest

from experiments.report import page
from experiments.report.figures import Figure, grid


def test_numbers_are_aligned_and_unknown_is_empty() -> None:
    table = pl.DataFrame({"method": ["geak", "<b>"], "value": [0.123456, None], "asked": [1200, 3], "solved": [True, False]})
    assert grid(table) == (
        ["method", "value", "asked", "solved"],
        ["", "n", "n", ""],
        [["geak", "0.1235", "1,200", "yes"], ["<b>", "", "3", "no"]],
    )


def test_long_texts_break_lines_and_many_columns_take_the_whole_width() -> None:
    table = pl.DataFrame({"method": ["a"], "note": ["one seed: " * 9]})
    assert grid(table)[1] == ["", "words"]
    assert not Figure("few", "Few", "", table).wide
    assert Figure("many", "Many", "", table.with_columns(pl.lit(1).alias(f"c{i}") for i in range(9))).wide


@pytest.fixture(scope="module")
def section() -> str:
    table = pl.DataFrame({"method": ["<b>"], "value": [0.5]})
    drawn = [
        Figure("rates", "Rates <i>", "Of all asked.", table, {"mark": "bar"}, "few data"),
        Figure("alone", "Alone", "No chart.", table),
    ]
    return page.environment().get_template("figures.html.j2").render(figures=drawn)


def test_a_figure_stands_over_its_data(section: str) -> None:
    assert section.index('data-spec="spec-rates"') < section.index("Of all asked.") < section.index("&lt;b&gt;")
    assert "<b>" not in section
    assert "<i>" not in section


def test_a_figure_without_a_chart_shows_its_data_at_once(section: str) -> None:
    assert "spec-alone" not in section
    assert section.count("<details open>") == 1
