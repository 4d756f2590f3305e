"""What a run cost, by role and by task: `python -m experiments.audit run=runs/<id> [format=table|json|csv|md]`.

Reads the run's files only. All spend is charged: failed tries, retries, replies without code, planners' and reflectors' calls.
"""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmark.console import show
from benchmark.errors import UserError, unknown
from experiments.analysis import dollars, tokens, unpriced, unsure
from experiments.runs import Run, task_of
from experiments.words import count, grid, usd

Record = dict[str, Any]
COLUMNS = (
    "calls", "tries", "input", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning", "tokens", "tries_without_usage",
    "usd", "usd_at_most", "tries_without_cost", "attempts", "passed", "asked", "solved", "tokens_per_success", "usd_per_success",
)  # fmt: skip
SHOWN = (
    "calls", "tries", "input", "cache_read", "cache_write", "output", "reasoning", "tokens", "usd", "attempts", "passed", "solved",
    "tokens_per_success",
)  # fmt: skip


def audit(run: Run) -> dict[str, Any]:
    """Totals of the run, by role, by task, and by both. Tokens and USD per success are None where nothing succeeded."""
    asked = run.asked
    solved = [t["task"] for t in run.trajectories if t["champion"]]
    tasks = list(dict.fromkeys(task for task, _ in asked))
    roles = list(dict.fromkeys(c["identity"]["role"] for c in run.calls))

    def row(task: str | None = None, role: str | None = None) -> Record:
        calls = [c for c in run.calls if task in (None, task_of(c["identity"]["trajectory"])) and role in (None, c["identity"]["role"])]
        attempts = [a for a in run.attempts if task in (None, a["task"]) and role in (None, a["role"])]
        return line(calls, attempts, sum(task in (None, name) for name, _ in asked), sum(task in (None, name) for name in solved))

    return {
        "run": run.run_id,
        "scaffold": run.environment["scaffold"],
        "model": run.environment["model"],
        "total": row(),
        "roles": {role: row(role=role) for role in roles},
        "tasks": {task: row(task) for task in tasks},
        "pairs": {task: {role: row(task, role) for role in roles} for task in tasks},
        "notes": list(run.notes()),
    }


def line(calls: Sequence[Record], attempts: Sequence[Record], asked: int, solved: int) -> Record:
    """One row. `tokens` and `usd` are what is known; how many tries that leaves out stands beside them.

    A role's row has the successes of all roles, so that costs per success add up.
    """
    used = tokens(calls)
    low, high = dollars(calls)
    return {
        "calls": len({c["call_id"] for c in calls}),
        "tries": len(calls),
        **{kind: used[kind] for kind in COLUMNS[2:8]},
        "tokens": used["total"],
        "tries_without_usage": unsure(calls),
        "usd": low,
        "usd_at_most": high,
        "tries_without_cost": unpriced(calls),
        "attempts": len(attempts),
        "passed": sum(a["verdict"] == "pass" for a in attempts),
        "asked": asked,
        "solved": solved,
        "tokens_per_success": used["total"] / solved if solved else None,
        "usd_per_success": low / solved if solved else None,
    }


def cells(name: str, row: Record, solves: bool = True) -> list[str]:
    """A row as the table and Markdown show it; a role by itself solves nothing."""
    left_out = row["tries_without_usage"]
    shown = {
        **{key: count(row[key], left_out) for key in ("input", "output", "tokens")},
        "cache_write": count(row["cache_write_5m"] + row["cache_write_1h"]),
        "usd": usd(row["usd"], row["tries_without_cost"]),
        "solved": f"{row['solved']}/{row['asked']}" if solves else "",
        "tokens_per_success": count(row["tokens_per_success"], left_out) if row["solved"] else "-",
    }
    return [name, *(shown.get(key, f"{row[key]:,}" if key not in shown else "") for key in SHOWN)]


def sections(report: Record) -> Iterable[tuple[str, list[list[str]]]]:
    for kind in ("roles", "tasks"):
        rows = [cells(name, row, solves=kind == "tasks") for name, row in report[kind].items()]
        yield kind.removesuffix("s"), [*rows, cells("all", report["total"])]


def table(report: Record) -> str:
    parts = [f"{report['run']}: {report['scaffold']['name']} with {report['model']}"]
    for kind, rows in sections(report):
        parts.append("\n".join(grid((kind, *(title.replace("_", " ") for title in SHOWN)), rows, (kind,))))
    return "\n\n".join(parts) + "\n" + explained(report)


def markdown(report: Record) -> str:
    parts = [f"`{report['run']}`: {report['scaffold']['name']} with `{report['model']}`"]
    for kind, rows in sections(report):
        head = "| " + " | ".join((kind, *(title.replace("_", " ") for title in SHOWN))) + " |"
        parts.append("\n".join((head, "|---" + "|---:" * len(SHOWN) + "|", *("| " + " | ".join(row) + " |" for row in rows))))
    return "\n\n".join(parts) + "\n" + explained(report)


def explained(report: Record) -> str:
    """What a reader must know to read the table."""
    total = report["total"]
    lines = [
        "tokens per success: all tokens of the row, failures and retries included, for each solved task and seed; of a role, its share.",
        "input, cache read, cache write and output add up to tokens; reasoning is a part of output.",
    ]
    if total["tries_without_usage"]:
        lines.append(f"{total['tries_without_usage']} tries did not tell their usage in full: sums over them are at least so much.")
    if total["tries_without_cost"]:
        bound = "at most unknown" if total["usd_at_most"] is None else f"at most ${total['usd_at_most']:.4f} in all"
        lines.append(f"{total['tries_without_cost']} tries have no known cost: {bound}.")
    return "\n".join(["", *lines, *report["notes"], ""])


def as_csv(report: Record) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("by", "task", "role", *COLUMNS))
    rows = [("total", "", "", report["total"])]
    rows += [("role", "", role, row) for role, row in report["roles"].items()]
    rows += [("task", task, "", row) for task, row in report["tasks"].items()]
    rows += [("pair", task, role, row) for task, roles in report["pairs"].items() for role, row in roles.items()]
    for *names, row in rows:
        writer.writerow((*names, *("" if row[key] is None else row[key] for key in COLUMNS)))
    return out.getvalue()


FORMATS: dict[str, Callable[[Record], str]] = {
    "table": table,
    "md": markdown,
    "csv": as_csv,
    "json": lambda report: json.dumps(report, indent=2) + "\n",
}


def options(words: Sequence[str]) -> dict[str, str]:
    chosen = {"format": "table"}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in ("run", "format"):
            raise unknown("key", key, ("run", "format"))
        chosen[key] = value
    if "run" not in chosen:
        raise UserError("Name the run: python -m experiments.audit run=runs/<run_id> [format=table|json|csv|md].")
    if chosen["format"] not in FORMATS:
        raise unknown("format", chosen["format"], FORMATS)
    return chosen


def main() -> int:
    if {"-h", "--help"} & set(sys.argv[1:]):
        show(str(__doc__))
        return 0
    try:
        chosen = options(sys.argv[1:])
        show(FORMATS[chosen["format"]](audit(Run(Path(chosen["run"])))).rstrip("\n"))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
