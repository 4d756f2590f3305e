"""Figures as text."""

import json

import polars as pl

from experiments import tables
from experiments.report.figures import Figure

TABLE = pl.DataFrame({"method": ["a|b"], "share_of": [None], "count": [1234]}, schema_overrides={"share_of": pl.Float64})
FIGURE = Figure("f", "Title", "Caption.", TABLE, note="Note.")


def test_markdown_aligns_numbers_and_escapes_bars() -> None:
    assert tables.marked([FIGURE], ["more"]).splitlines()[2:5] == [
        "| method | share of | count |", "| --- | ---: | ---: |", "| a\\|b |  | 1,234 |",
    ]  # fmt: skip


def test_text_ends_with_caption_note_and_what_is_to_be_told() -> None:
    assert tables.plain([FIGURE], ["more"]).endswith("Caption.\nNote.\n\nmore\n")


def test_json_keeps_numbers_and_what_is_unknown() -> None:
    told = json.loads(tables.as_json([FIGURE]))
    assert told["figures"]["f"]["rows"] == [{"method": "a|b", "share_of": None, "count": 1234}]
