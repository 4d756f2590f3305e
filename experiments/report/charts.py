"""The charts of the page and the scripts that draw them."""

from collections.abc import Sequence

from experiments.report.figures import Figure
from experiments.runs import Run


def figures(runs: Sequence[Run]) -> list[Figure]:
    """In the order of the page."""
    return []


def scripts() -> list[str]:
    """JavaScript sources, each put into an element of its own, before the page's own."""
    return []
