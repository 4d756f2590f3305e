"""`python -m benchmark.list`: suites, categories, tasks."""

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from benchmark import suites
from benchmark.console import show
from benchmark.errors import UserError

if TYPE_CHECKING:
    from benchmark.task import Task


def row(task: "Task") -> dict[str, Any]:
    from benchmark import contracts

    return {
        "id": task.id,
        "suite": task.suite,
        "category": task.category,
        "source": task.source,
        "entry": task.entry_name,
        "contract": contracts.fields(task),
    }


def text(tasks: Sequence["Task"]) -> str:
    """Tasks by suite and category."""
    lines, width = [], max((len(task.id) for task in tasks), default=0)
    for suite in dict.fromkeys(task.suite for task in tasks):
        own = [task for task in tasks if task.suite == suite]
        lines.append(f"{suite} ({len(own)} tasks)")
        for category in sorted({task.category for task in own}):
            members = [task for task in own if task.category == category]
            lines.append(f"  {category} ({len(members)})")
            lines += [f"    {task.id:<{width}} {task.signature}" for task in members]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmark.list", description="Suites, categories and tasks.")
    parser.add_argument("--suite", action="append", help="only this suite; may be given several times, as the others")
    parser.add_argument("--category", action="append", help="only this category")
    parser.add_argument("--source", action="append", help="only operators from there, as torch.nn.functional")
    parser.add_argument("--json", action="store_true", help="a JSON list of tasks with their contracts")
    options = parser.parse_args(arguments)
    try:
        found = suites.select(options.suite or suites.names(), options.category, source=options.source)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    show(json.dumps([row(task) for task in found], indent=1, default=str) if options.json else text(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
