"""A figure of the page: its data, always shown as a table, and a chart of them where one helps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

PALETTE = ("#2f6fb3", "#d9822b", "#3c9a6e", "#b5476b", "#7a62b8", "#8a7a2e", "#2a9aa8", "#6b7480")
"""Colours of methods, told apart on light and on dark ground."""
VERDICT_COLOURS = {"pass": "#2e9461", "wrong": "#d19a1e", "broken": "#c8493f", "none": "#8a919b"}
"""A pass; compiled and wrong; not compiled; no verdict on the candidate."""


LONG = 36
"""Characters of a cell above which its column breaks lines, and is wide."""
NARROW = 8
"""Columns that fit into half a page."""


@dataclass(frozen=True)
class Figure:
    name: str
    """Letters, digits and `-`; unique in the page, whose anchor is `#figure-<name>`."""
    title: str
    caption: str
    """Definition, denominator and source, in plain text."""
    table: pl.DataFrame
    spec: dict[str, Any] | None = None
    """Vega or Vega-Lite; without one the table stands alone."""
    note: str = ""

    @property
    def told(self) -> bool:
        """Whether its data are the first thing to look at: without a chart, and not for want of values."""
        return self.spec is None and not ("value" in self.table.columns and self.table["value"].is_null().all())

    @property
    def wide(self) -> bool:
        """Whether it needs the page's whole width."""
        return self.table.width > NARROW


def grid(table: pl.DataFrame) -> tuple[Sequence[str], Sequence[str], list[list[str]]]:
    """Heads, each column's class (`n` numbers, `words` long texts) and rows as text; null is empty."""
    heads = [name.replace("_", " ") for name in table.columns]
    body = [[cell(value) for value in row] for row in table.iter_rows()]
    longest = [max((len(row[column]) for row in body), default=0) for column in range(table.width)]
    classes = ["n" if kind.is_numeric() else "words" if long > LONG else "" for kind, long in zip(table.dtypes, longest, strict=True)]
    return heads, classes, body


def cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(cell(part) for part in value)
    return str(value)
