"""The charts of the page and the scripts that draw them."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from experiments import compare
from experiments.analysis import frames
from experiments.report import gallery, plots, vega
from experiments.report.figures import Figure
from experiments.report.plots import Spec
from experiments.runs import Run

scripts = vega.scripts


def figures(runs: Sequence[Run]) -> list[Figure]:
    """In the order of the page: the comparison of the runs, or of one run its figures alone; then those of the analysis."""
    found = compare.figures(runs)
    shown = found if len(runs) > 1 else [figure for figure in found if figure.name == "compare-methods"]
    return [*(replace(figure, spec=compared(figure)) for figure in shown), *gallery.figures(frames.load(runs))]


def compared(figure: Figure) -> Spec | None:
    match figure.name:
        case "compare-methods":
            return solved(figure.table)
        case "compare-pairs":
            return ratios(figure.table)
    return None


def solved(table: pl.DataFrame) -> Spec | None:
    """Share solved with its interval."""
    data = table.select("method", "low", "high", value="share", told=pl.format("{} of {}", "solved", "asked"))
    return plots.rows(data, "method", "share solved", data["method"].to_list(), told="told", share=True)


def ratios(table: pl.DataFrame) -> Spec | None:
    """Left's speedup over right's on a log axis with the line of no difference; None where nothing was measured."""
    data = table.select(
        "low", "high", value="ratio", pair=pl.format("{} / {}", "left", "right"), told=pl.format("{} tasks", "faster_pairs")
    )
    return plots.rows(data, "pair", "ratio of speedups (log)", told="told", at=1.0, log=True)
