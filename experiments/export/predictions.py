"""`format=kernelbench_x`: predictions as KernelBench-X's own scripts read them, to have its harness judge what ours has judged."""

import ast
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from experiments.keys import one_of
from experiments.records import standing
from experiments.runs import Run

SUITE = "kernelbench_x"
CALLED = {"SGD": "sgd_step", "AdamW": "adamw_step", "Lion": "lion_step", "RMSProp": "rmsprop_step"}
"""The function that their test of an operator calls, where it is not named as the operator's file."""
EITHER = "kernel_function"
"""The name that their check and our executor accept beside the operator's."""
CUTS = ("```", "#" * 146)
"""Text at which their reader ends a prediction, wherever it stands."""
WHICH = ("best", "rounds")
Record = dict[str, Any]


def write(runs: Sequence[Run], out: Path, which: str = "best") -> list[str]:
    """A file of JSON lines `{"file": "Category/operator.py", "predict": source}` for each run and seed, one line for each task asked.

    `which=best` takes the champion of a trajectory, `which=rounds` makes a file for each round, with the best attempt of that round. Where
    none passed it is the last candidate, since their tests may think otherwise; without any it is empty, which their harness counts as
    failed.
    """
    one_of("which", which, WHICH)
    files = {name: lines for run in runs for name, lines in files_of(run, which)}
    if not any(files.values()):
        raise UserError(f"format=kernelbench_x needs tasks of the suite {SUITE}, and none was asked for; use benchmark={SUITE} in a run.")
    out.mkdir(parents=True)
    for name, lines in files.items():
        (out / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return [told(out / name, lines) for name, lines in files.items()]


def files_of(run: Run, which: str) -> Iterable[tuple[str, list[Record]]]:
    tasks = {task: row["category"] for task, row in run.environment["asked"]["tasks"].items() if row["suite"] == SUITE}
    rounds: Sequence[int | None] = sorted({a["round"] for a in run.attempts}) if which == "rounds" else [None]
    for seed in run.environment["asked"]["seeds"]:
        for number in rounds:
            taken = [a for a in run.attempts if a["seed"] == seed and number in (None, a["round"])]
            place = "" if number is None else f".round{number}"
            yield f"{run.run_id}.seed{seed}{place}.jsonl", [prediction(run, task, tasks[task], taken) for task in tasks]


def prediction(run: Run, task: str, category: str, attempts: Sequence[Record]) -> Record:
    stem = task.removeprefix(f"{SUITE}/")
    chosen = choice([a for a in attempts if a["task"] == task])
    source = run.kernel(chosen["kernel_sha"]) if chosen else ""
    return {"file": f"{category}/{stem}.py", "predict": source + aliases(source, stem)}


def choice(attempts: Sequence[Record]) -> Record | None:
    """The champion among these attempts, else the last that has a source."""
    written = sorted((a for a in attempts if a["kernel_sha"]), key=lambda a: str(a["attempt"]))
    passing = [a for a in written if a["verdict"] == "pass"]
    return max(passing, key=standing) if passing else written[-1] if written else None


def aliases(source: str, stem: str) -> str:
    """The assignments that a source lacks: their check wants the operator's name or `kernel_function`, their test calls one name only."""
    called = CALLED.get(stem, stem)
    names = defined(source)
    if not names & {called, EITHER}:
        return ""
    lines = [] if called in names else [f"{called} = {EITHER}"]
    lines += [] if called == stem or names & {stem, EITHER} else [f"{EITHER} = {called}"]
    return "".join(f"\n{line}\n" for line in lines)


def defined(source: str) -> set[str]:
    """Names of a module's functions and assignments; none where it does not parse."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError):
        return set()
    functions = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    targets = [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    return functions | {target.id for target in targets if isinstance(target, ast.Name)}


def told(path: Path, lines: Sequence[Record]) -> str:
    empty = sum(not line["predict"] for line in lines)
    cut = [line["file"] for line in lines if any(mark in line["predict"] for mark in CUTS)]
    warning = f"; their reader cuts off {', '.join(cut)} at a ``` or a line of 146 #" if cut else ""
    return f"{path}: {len(lines)} predictions, {empty} of them empty{warning}"
