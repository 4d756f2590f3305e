"""How the audit's reports are written: as a table, as Markdown, CSV and JSON."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from statistics import geometric_mean
from typing import Any

from experiments.spend import SLICES
from experiments.words import between, grid, money, number

Record = dict[str, Any]
Rows = list[list[str]]
ALWAYS = ("role", "round", "task", "category")
"""Dimensions that the table shows."""
MANY = ("scaffold", "model", "run")
"""Those that it shows where they have more than one name. A trajectory's rows are in JSON and CSV only."""
TITLES = ("calls", "tries", "retries", "input", "cache read", "cache write", "output", "reasoning", "tokens", "usd", "passed", "solved",
          "tokens per success", "caches at cost", "usd per success")  # fmt: skip
LEFT = ("role", "round", "task", "category", "scaffold", "model", "run", "of which", "trajectory", "ended", "verdict", "provider", "day",
        "tier", "kind", "why")  # fmt: skip
"""Columns of text."""


def cells(name: str, row: Record, solves: bool = True) -> list[str]:
    """A row as tables show it; a role or a round by itself solves nothing."""
    kinds = [row["input"], row["cache_read"], row["cache_write_5m"] + row["cache_write_1h"], row["output"], row["reasoning"]]
    return [
        name,
        *(number(row[key]) for key in ("calls", "tries", "retries")),
        *(number(kind) for kind in kinds),
        spread(row, "tokens", number),
        spread(row, "usd", money),
        f"{row['passed']}/{row['attempts']}",
        f"{row['solved']}/{row['asked']}" if solves else "",
        spread(row, "tokens", number, "_per_success") if row["solved"] else "-",
        ("unknown" if row["tokens_at_cost"] is None else number(row["tokens_at_cost_per_success"])) if row["solved"] else "-",
        spread(row, "usd", money, "_per_success") if row["solved"] else "-",
    ]


def spread(row: Record, key: str, write: Callable[[float], str], suffix: str = "") -> str:
    return between(row[key + suffix], row[f"{key}_at_least{suffix}"], row[f"{key}_at_most{suffix}"], write)


def sections(report: Record) -> Iterable[tuple[Sequence[str], Rows]]:
    """Heads and rows of the report's tables."""
    for dimension in (*ALWAYS, *MANY):
        parts = report["by"][dimension]
        if dimension in ALWAYS or len(parts) > 1:
            rows = [cells(name, row, solves=dimension not in ("role", "round")) for name, row in parts.items()]
            yield (dimension, *TITLES), [*rows, cells("all", report["total"])]
    parts = report["total"]["of_which"]
    yield ("of which", "tries", "tokens", "usd"), [[SLICES[name], *amounts(part)] for name, part in parts.items()]
    if report["failures"]:
        failed = [[f["trajectory"], f["end_reason"], f["verdict"] or "-", *amounts(f)] for f in report["failures"]]
        yield ("trajectory", "ended", "verdict", "tries", "tokens", "usd"), failed
    if report["tuned"]:
        yield ("trajectory", "variants", "passed", "models' best", "tuned", "gain"), [gained(row) for row in report["tuned"]]


def gained(row: Record) -> list[str]:
    speeds = ["-" if row[key] is None else f"{row[key]:.2f}x{'' if row['measured'] else ' modelled'}" for key in ("models", "best", "gain")]
    return [row["trajectory"], number(row["variants"]), number(row["passed"]), *speeds]


def amounts(part: Record) -> list[str]:
    return [number(part["tries"]), spread(part, "tokens", number), spread(part, "usd", money)]


def explained(report: Record) -> list[str]:
    """What a reader must know to read the tables."""
    total = report["total"]
    valued = {model: by for run in report["runs"] for model, by in run["prices"].items()}
    lines = [
        "per success: all of the row, failures and retries included, for each solved task and seed; of a role or a round, its share.",
        "input, cache read, cache write and output add up to tokens; reasoning is a part of output; "
        "caches at cost: tokens of the cache weighted by their price over that of input.",
        "the most expensive failures are listed dearest first." if report["failures"] else "",
        tuning(report["tuned"]),
        *(f"prices of {model}: {by['source'] + dated(by['date']) if by else 'unknown'}" for model, by in valued.items()),
        f"valued anew: {', '.join(report['revalued'])}" if report["revalued"] else "",
    ]
    for key, what, write in (("tokens", "usage", number), ("usd", "cost", money)):
        if total[f"tries_without_{what}"]:
            estimated = total[f"{key}_estimated"]
            bound = "nothing bounds them" if estimated is None else f"{estimated:.1%} of the upper bound is estimated"
            ends = f"at least {write(total[f'{key}_at_least'])}, at most {at_most(total[f'{key}_at_most'], write)}"
            lines.append(f"{total[f'tries_without_{what}']} tries without a known {what}: {key} are {ends}; {bound}.")
    return [line for line in (*lines, *report["notes"], *checked(report.get("check"))) if line]


def tuning(rows: Sequence[Record]) -> str:
    """The tuner's gains together, over the trajectories in which both speeds are known."""
    known = [row["gain"] for row in rows if row["gain"] is not None]
    if not known:
        return ""
    mean = f"{geometric_mean(known):.2f}x in the geometric mean of {len(known)}"
    return f"gain: the best attempt over the best that a model wrote, by launch parameters alone, at no tokens; {mean}."


def dated(date: str | None) -> str:
    return f", {date}" if date else ""


def at_most(value: float | None, write: Callable[[float], str]) -> str:
    return "unknown" if value is None else write(value)


def checked(check: Record | None) -> list[str]:
    if check is None:
        return []
    found = check["differences"]
    return [f"check: {check['lines']} lines and {check['totals']} totals added up anew: {len(found) or 'no'} differences", *found]


def plain(heading: str, tables: Iterable[tuple[Sequence[str], Rows]], notes: Sequence[str]) -> str:
    return "\n\n".join([heading, *("\n".join(grid(head, rows, LEFT)) for head, rows in tables), "\n".join(notes)]) + "\n"


def marked(heading: str, tables: Iterable[tuple[Sequence[str], Rows]], notes: Sequence[str]) -> str:
    parts = [heading]
    for head, rows in tables:
        rule = "|" + "|".join("---" if title in LEFT else "---:" for title in head) + "|"
        parts.append("\n".join(("| " + " | ".join(head) + " |", rule, *("| " + " | ".join(row) + " |" for row in rows))))
    return "\n\n".join([*parts, "\n".join(f"- {note}" for note in notes)]) + "\n"


def heading(report: Record) -> str:
    return "\n".join(f"{run['run']}: {run['scaffold']} with {run['model']}" for run in report["runs"])


PART = ("tries", "tokens_at_least", "tokens_at_most", "usd_at_least", "usd_at_most")
"""What a CSV line has of the parts of its spending."""


def as_csv(report: Record) -> str:
    """One line per row: by what, its names, and every number; unknown is empty."""
    names = ("task", "role")
    rows: list[tuple[tuple[str, ...], Record]] = [(("total", "", "", ""), report["total"])]
    rows += [((dimension, name, "", ""), row) for dimension, parts in report["by"].items() for name, row in parts.items()]
    rows += [(("pair", "", task, role), row) for task, roles in report["pairs"].items() for role, row in roles.items()]
    return comma(("by", "name", *names, *flattened(report["total"])), [[*labels, *flattened(row).values()] for labels, row in rows])


def flattened(row: Record) -> Record:
    bare = {key: value for key, value in row.items() if key != "of_which"}
    return {**bare, **{f"{name}_{key}": part[key] for name, part in row["of_which"].items() for key in PART}}


def comma(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([["" if value is None else value for value in row] for row in rows])
    return out.getvalue()


def as_json(report: Record) -> str:
    return json.dumps(report, indent=2) + "\n"


FORMATS: dict[str, Callable[[Record], str]] = {
    "table": lambda report: plain(heading(report), sections(report), explained(report)),
    "md": lambda report: marked(heading(report), sections(report), explained(report)),
    "csv": as_csv,
    "json": as_json,
}


def reconciled(found: Record) -> tuple[str, list[tuple[Sequence[str], Rows]], list[str]]:
    """Heading, tables and notes of a reconciliation."""
    tables: list[tuple[Sequence[str], Rows]] = []
    if found["totals"]:
        rows = [[t["provider"], t["kind"], *(amount(t, key) for key in ("ours", "theirs", "difference"))] for t in found["totals"]]
        tables.append((("provider", "kind", "ours", "theirs", "difference"), rows))
    if found["differences"]:
        head = ("provider", "day", "model", "tier", "kind", "ours", "theirs", "difference", "why")
        rows = [[*(d[key] for key in head[:5]), *(amount(d, key) for key in head[5:8]), d["why"]] for d in found["differences"]]
        tables.append((head, rows))
    told = [f"{s['provider']}, {s['unit']}: {', '.join(s['files'])} ({s['entries']} entries, {s['first_day']} to {s['last_day']})"
            for s in found["statements"]]  # fmt: skip
    count = len(found["differences"])
    notes = [
        *told,
        "days are UTC, ours by when the reply came; difference is theirs less ours.",
        *found["notes"],
        f"{count or 'no'} differences",
    ]
    return ", ".join(found["runs"]), tables, notes


def amount(row: Record, key: str) -> str:
    return f"{row[key]:,.0f}" if row["unit"] == "tokens" else f"${row[key]:,.6f}"


COMPARED = ("provider", "unit", "day", "model", "tier", "kind", "ours", "ours_at_most", "theirs", "difference", "why")
RECONCILED: dict[str, Callable[[Record], str]] = {
    "table": lambda found: plain(*reconciled(found)),
    "md": lambda found: marked(*reconciled(found)),
    "csv": lambda found: comma(COMPARED, [[row[key] for key in COMPARED] for row in found["differences"]]),
    "json": as_json,
}
