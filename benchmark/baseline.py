"""`python -m benchmark.baseline --out FILE`: how fast torch's own operators are at the timed sizes, on the machine at hand.

For plots and for plausibility, never for a claim of speed: the calls are not interleaved with a candidate's, their results are not
checked, the inputs are the same in each call, and where the host is slower than the device its time is in them. The file says so.
"""

import argparse
import json
import platform
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import torch

from benchmark import oracle, suites
from benchmark.console import show
from benchmark.devices import accelerator, hardware, usable
from benchmark.errors import UserError
from benchmark.stopwatch import milliseconds
from benchmark.task import Case, Task

WARNING = (
    "Medians of some calls of the references alone, not interleaved with anything, on inputs that do not change. "
    "For plots and plausibility; no claim of speed may rest on them."
)
LONGEST_MS = 1000.0


def measured(task: Task, case: Case, device: str, compiled: bool) -> dict[str, Any]:
    """Milliseconds by kind; null with the reason where there is none."""
    oracle.multiply_as(task.contract)
    kinds: dict[str, Callable[[], Callable[..., Any]]] = {"eager": lambda: task.reference}
    if compiled:
        kinds["compile"] = lambda: torch.compile(task.reference, dynamic=False)
    found: dict[str, Any] = {}
    for kind, function in kinds.items():
        try:
            arguments = case.arguments(task.id, 0, device)
            found[f"{kind}_ms"] = milliseconds(partial(oracle.call, function(), arguments), device)
        except Exception as error:
            found |= {f"{kind}_ms": None, f"no_{kind}": f"{type(error).__name__}: {(str(error).strip() or '-').splitlines()[0]}"}
    if compiled:
        torch.compiler.reset()
    return found


def ladder(task: Task, device: str, compiled: bool) -> dict[str, dict[str, Any]]:
    """By timed size; after one at which a call takes seconds, as some do on a CPU, larger ones are left out."""
    sizes: dict[str, dict[str, Any]] = {}
    for case in task.timing:
        slow = next((name for name, times in sizes.items() if (times["eager_ms"] or 0) > LONGEST_MS), None)
        reason = f"a call at {slow} took {sizes[slow]['eager_ms'] / 1e3:.1f} s" if slow else ""
        sizes[case.name] = {"eager_ms": None, "no_eager": reason} if slow else measured(task, case, device, compiled)
    return sizes


def environment(device: str) -> dict[str, Any]:
    """What the times depend on."""
    return {
        "device": device,
        "hardware": hardware(device),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmark.baseline",
        description="Times the references at their timed sizes on the machine at hand: for plots and plausibility, never for claims.",
    )
    parser.add_argument("--suite", action="append", help="a suite, quick by default; may be given several times, as the next two")
    parser.add_argument("--category", action="append", help="only this category")
    parser.add_argument("--task", action="append", help="only this task of the suites")
    parser.add_argument("--compile", action="store_true", help="torch.compile of the references, too")
    parser.add_argument("--device", help="the accelerator by default, where there is one")
    parser.add_argument("--out", type=Path, required=True, help="the JSON file")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        device = usable(options.device or accelerator())
        tasks = suites.select(options.suite or "quick", options.category, options.task)
        report: dict[str, Any] = {"what": WARNING, "environment": environment(device), "tasks": {}}
        write(options.out, report)
        for task in tasks:
            sizes = report["tasks"][task.id] = ladder(task, device, options.compile)
            # After each task, so that what took long is not lost.
            write(options.out, report)
            show(f"{task.id}: " + ", ".join(f"{name} {said(times)}" for name, times in sizes.items()))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    show(f"{len(tasks)} tasks on {report['environment']['hardware']}, in {options.out}. {WARNING}")
    return 0


def said(times: dict[str, Any]) -> str:
    return " / ".join("-" if value is None else f"{value:.3g} ms" for name, value in times.items() if name.endswith("_ms"))


def write(path: Path, report: dict[str, Any]) -> None:
    try:
        path.write_text(json.dumps(report, indent=1, allow_nan=False) + "\n")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}; name another file with --out.") from error


if __name__ == "__main__":
    sys.exit(main())
