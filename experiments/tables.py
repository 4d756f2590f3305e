"""Figures as text: aligned for the terminal, Markdown, JSON."""

import json
from collections.abc import Callable, Sequence

from experiments.report.figures import Figure, grid
from experiments.words import grid as aligned


def plain(figures: Sequence[Figure], notes: Sequence[str] = ()) -> str:
    """For the terminal: titles, aligned columns, captions; as wide as the cells are, so that names can be copied."""
    parts = []
    for figure in figures:
        heads, numeric, rows = grid(figure.table)
        left = [head for head, number in zip(heads, numeric, strict=True) if not number]
        parts += ["\n".join([figure.title, *aligned(heads, rows, left)]), "\n".join(line for line in (figure.caption, figure.note) if line)]
    return "\n\n".join([*parts, *(["\n".join(notes)] if notes else [])]) + "\n"


def marked(figures: Sequence[Figure], notes: Sequence[str] = ()) -> str:
    parts = []
    for figure in figures:
        heads, numeric, rows = grid(figure.table)
        rule = ["---:" if number else "---" for number in numeric]
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (heads, rule, *rows)]
        parts += [f"## {figure.title}", "\n".join(lines), *(line for line in (figure.caption, figure.note) if line)]
    return "\n\n".join([*parts, *(["\n".join(f"- {note}" for note in notes)] if notes else [])]) + "\n"


def as_json(figures: Sequence[Figure], notes: Sequence[str] = ()) -> str:
    """Each figure by its name, rows as objects; null is unknown."""
    told = {f.name: {"title": f.title, "caption": f.caption, "note": f.note, "rows": f.table.to_dicts()} for f in figures}
    return json.dumps({"figures": told, "notes": list(notes)}, indent=2) + "\n"


FORMATS: dict[str, Callable[[Sequence[Figure], Sequence[str]], str]] = {"table": plain, "md": marked, "json": as_json}
