"""The page: its parts from templates, its scripts named by digest in a Content-Security-Policy, its texts in packs behind everything."""

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from experiments import methods, words
from experiments.report import charts, conditions, figures, overview, tasks
from experiments.report.texts import Shelf
from experiments.report.trajectories import Reader
from experiments.runs import Run

TEMPLATES = Path(__file__).with_name("templates")


def write(runs: Sequence[Run], out: Path) -> Shelf:
    """Writes the page whole or not at all; what it needs of the runs' texts is on the shelf that it returns."""
    shelf = Shelf()
    readers = {run.run_id: Reader(run, shelf) for run in runs}
    labels = dict(zip((run.run_id for run in runs), methods.labelled(runs), strict=True))
    rows = [row for run in runs for row in tasks.rows(run, readers[run.run_id], labels[run.run_id])]
    records = dict(packed(rows, readers, shelf))
    shelf.close()
    part = out.with_name(f".{out.name}.{os.getpid()}")
    with part.open("w", encoding="utf-8", errors="backslashreplace") as file:
        for piece in sheet().generate(**parts(runs, rows), shelf=shelf, records=records):
            file.write(piece)
    part.replace(out)
    return shelf


def packed(rows: Sequence[tasks.Row], readers: Mapping[str, Reader], shelf: Shelf) -> Iterator[tuple[str, int]]:
    """Puts every trajectory's record on the shelf, those of one task side by side; their anchors and the records' numbers."""
    for row in sorted(rows, key=lambda row: (row.record["task"], row.anchor)):
        if row.record["calls"] or row.strip:
            body = {"asked": row.record, **readers[row.record["run"]].trajectory(row.record["trajectory"])}
            yield row.anchor, shelf.piece(json.dumps(body, separators=(",", ":")))


def parts(runs: Sequence[Run], rows: Sequence[tasks.Row]) -> dict[str, Any]:
    scripts = [source.strip() for source in (*charts.scripts(), text("page.js"))]
    assert not any("</script" in source.lower() for source in scripts), "a script would end its own element"
    return {
        "title": ", ".join(run.run_id for run in runs),
        "heading": runs[0].run_id if len(runs) == 1 else f"{len(runs)} runs side by side",
        "style": Markup(text("page.css")),
        "scripts": [Markup(source) for source in scripts],
        "policy": policy(scripts),
        "overview": overview.overview(runs, rows),
        "figures": charts.figures(runs),
        "rows": rows,
        "choices": {column: tasks.choices(rows, column) for column in ("category", "method", "end_reason", "suite", "run")},
        "conditions": [conditions.of(run) for run in runs],
    }


def policy(scripts: Sequence[str]) -> str:
    """Nothing is loaded, and no script runs but these: what a model wrote stays text."""
    digests = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'" for source in scripts)
    return f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def text(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    made = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters.update(count=words.count, usd=words.usd, clock=words.clock, grid=figures.grid)
    made.globals.update(results=tasks.RESULTS, num=num, speed=speed)
    return made


def sheet() -> Template:
    return environment().get_template("page.html.j2")


def num(value: float | None) -> str:
    """A number as scripts sort by it; unknown is empty."""
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def speed(record: Mapping[str, Any]) -> str:
    """The champion's measured speedup with its interval."""
    low, high = record["speedup_low"], record["speedup_high"]
    return words.speedup(record["speedup"], None if low is None else [low, high])
