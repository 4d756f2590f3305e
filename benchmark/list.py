"""`python -m benchmark.list`: suites, categories, tasks."""

import argparse
import json
import sys
from collections.abc import Sequence

from benchmark import suites
from benchmark.console import show
from benchmark.errors import UserError, unknown


def rows(suite: str | None, category: str | None) -> list[dict[str, str]]:
    """One row per task: id, suite, category, source, signature."""
    loaded = [suites.load(name) for name in ([suite] if suite else suites.names())]
    categories = {name for one in loaded for name in one.categories}
    if category and category not in categories:
        raise unknown("category", category, categories)
    return [
        {"id": task.id, "suite": one.name, "category": task.category, "source": task.source, "signature": task.signature}
        for one in loaded
        for task in one.tasks
        if category in (None, task.category)
    ]


def text(rows: list[dict[str, str]]) -> str:
    """Tasks by suite and category."""
    lines = []
    for suite in dict.fromkeys(row["suite"] for row in rows):
        own = [row for row in rows if row["suite"] == suite]
        lines.append(f"{suite} ({len(own)} tasks)")
        for category in sorted({row["category"] for row in own}):
            lines.append(f"  {category}")
            lines += [f"    {row['id']:<28} {row['signature']}" for row in own if row["category"] == category]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmark.list", description="Suites, categories and tasks.")
    parser.add_argument("--suite", help="only this suite")
    parser.add_argument("--category", help="only this category")
    parser.add_argument("--json", action="store_true", help="a JSON list of tasks")
    options = parser.parse_args(arguments)
    try:
        found = rows(options.suite, options.category)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    show(json.dumps(found, indent=1) if options.json else text(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
