"""`format=kernels`: an installable Python package of the champions, one for each task."""

from collections.abc import Sequence
from pathlib import Path

from experiments.runs import Run


def write(runs: Sequence[Run], out: Path, name: str = "kernels") -> list[str]:
    """Writes the package's project folder. Returns what a person wants to know of it."""
    return []
