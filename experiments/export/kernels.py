"""`format=kernels`: an installable Python package of the champions, one for each task, with a dispatch to the torch references.

The package needs torch and triton at run time; its tests need kernelwright. Its `kernels.json` is the machine-readable table.
"""

import inspect
import json
import keyword
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from benchmark import contracts
from benchmark.errors import UserError
from benchmark.importers.own import EXAMPLES
from benchmark.origin import Origin
from benchmark.task import Task
from experiments.export import champions, domain, references
from experiments.export.champions import Champion
from experiments.runs import Run
from tools.tasks import Finder

Row = dict[str, Any]
FOLDERS = {"kernels": "Triton kernels, verbatim", "references": "References in torch", "ops": "Functions that dispatch"}
TAKEN = {"torch", "triton", "benchmark", "tools", "agents", "scaffolds", "experiments", "prompts", *sys.stdlib_module_names}


def write(runs: Sequence[Run], out: Path, name: str = "champions") -> list[str]:
    """Writes the package's project folder. Tasks that cannot be exported are left out, and said."""
    if not name.isidentifier() or keyword.iskeyword(name) or name in TAKEN or name != name.lower():
        raise UserError(f"name={name} cannot be the name of the package: take a Python identifier in lower case that no other package has.")
    found = champions.champions(runs)
    if not found:
        raise UserError("No task of these runs has a champion: there is no kernel to export.")
    rows, left, parts = [], [], {}
    with Finder() as finder:
        for champion in found:
            try:
                task = asked(finder, champion)
                row = described(champion, task, named(champion, found))
                parts[row["name"]] = Parts(champion.source, references.module(task), task.origin)
                rows.append(row)
            except references.Unfit as reason:
                left.append(f"left out: {champion.task}, {reason}")
    if not rows:
        raise UserError(f"No champion of these runs can be exported. {left[0]}.")
    package(out, name, rows, parts)
    unmeasured = sum(row["measured"] is None for row in rows)
    said = f"{out}: package {name} of {len(rows)} kernels" + (f", {unmeasured} of them without a measured speedup" if unmeasured else "")
    changed = [
        f"changed since: {row['task']} was judged as {row['task_sha']} and is {row['task_sha_now']} now, by which domain and checks go"
        for row in rows
        if row["task_sha"] != row["task_sha_now"]
    ]
    return [said, *left, *changed, f"pip install {out}; tests: pip install '{out}[test]', pytest {out}/tests"]


def asked(finder: Finder, champion: Champion) -> Task:
    """The champion's task, as it is now. Raises `Unfit`."""
    try:
        task = finder.find(champion.task, champion.run.config.get("task_args"))
    except UserError as error:
        raise references.Unfit(f"which is not found: {error}") from None
    if task.origin and task.sha != champion.evaluation["task_sha"]:
        raise references.Unfit("its file is another now than the one that was judged")
    return task


def named(champion: Champion, among: Sequence[Champion]) -> str:
    """The last part of the task's id; with what stands before where several tasks have it."""
    *before, name = re.split("[/:]", champion.task)
    several = sum(re.split("[/:]", other.task)[-1] == name for other in among) > 1
    name = re.sub(r"\W", "_", "_".join([*before, name]) if several else name)
    return f"{name}_" if keyword.iskeyword(name) else name


def described(champion: Champion, task: Task, name: str) -> Row:
    """A kernel's line of the table. Raises `Unfit`."""
    attempt, evaluation = champion.attempt, champion.evaluation
    signature = inspect.signature(task.reference)
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY) for p in signature.parameters.values()):
        raise references.Unfit("it takes any number of arguments")
    calls = domain.tested(task, evaluation)
    if not all(any(True for value in call.values() for _ in domain.tensors(value)) for call in calls) or not calls:
        raise references.Unfit("not every call of it has a tensor to tell the device by" if calls else "its cases are others now")
    registered = references.schema(task, calls)
    timing = evaluation["timing"]
    return {
        "name": name, "entry": task.entry_name, "reference": task.reference.__name__, "own": own(task, name),
        "task": task.id, "task_sha": evaluation["task_sha"], "task_sha_now": task.sha, "category": task.category,
        "semantics": inspect.cleandoc(task.semantics), "signature": str(signature), "contract": contracts.clauses(task),
        "random": task.contract.random, "parameters": [parameter(p) for p in signature.parameters.values()],
        "schema": registered.schema, "not_registered": registered.why, "registered": list(registered.registered),
        "fits": list(registered.fits),
        "mutates": list(dict.fromkeys(clause.partition(" if ")[0] for clause in task.contract.mutates)),
        "checker": type(task.contract.checker).__name__,
        "kernel_sha": attempt["kernel_sha"], "run": champion.run.run_id, "trajectory": attempt["trajectory"], "attempt": attempt["attempt"],
        "scaffold": attempt["scaffold"], "model": attempt["model"], "revision": champion.run.environment.get("revision"),
        "verdict": evaluation["verdict"], "mode": evaluation["mode"], "device": evaluation["device"], "versions": evaluation["versions"],
        "environment_sha": evaluation["environment_sha"], "settings_sha": evaluation["settings_sha"],
        "measured": None if timing is None else {**timing, "sizes": [sized(task, size) for size in timing["sizes"]]},
        "not_measured": "" if timing else attempt["no_speedup"] or evaluation["no_timing"] or "unknown",
        "modelled": evaluation["modelled"], "domain": domain.domain(calls),
    }  # fmt: skip


def own(task: Task, name: str) -> Row | None:
    """Where the package's tests have the user's file, below `tests/tasks`, and the options that it is read with."""
    if task.origin is None:
        return None
    options = {key: value for key, value in task.origin.options.items() if key in ("tolerance", "sizes") and value is not None}
    examples = {"inputs": f"{name}/{EXAMPLES}"} if EXAMPLES in task.origin.files else {}
    return {"path": f"{name}/{task.origin.path}", "function": task.origin.entry, "args": {**options, **examples}}


def parameter(found: inspect.Parameter) -> Row:
    default = {} if found.default is found.empty else {"default": repr(found.default)}
    return {"name": found.name, "keyword_only": found.kind is found.KEYWORD_ONLY, **default}


def sized(task: Task, size: Row) -> Row:
    """A timed size with its inputs in words, where the task still has it."""
    case = next((case for case in task.timing if case.name == size["case"]), None)
    return {**size, "inputs": domain.shapes(case.arguments(task.id, 0, "meta")) if case else ""}


@dataclass(frozen=True)
class Parts:
    """Texts of a kernel's modules, and of a user's own function its file."""

    kernel: str
    reference: str
    origin: Origin | None


def package(out: Path, name: str, rows: Sequence[Row], parts: dict[str, Parts]) -> None:
    ops = [{**row, **shown(row)} for row in rows]
    unmeasured = [op["name"] for op in ops if op["measured"] is None]
    slower = [op["name"] for op in ops if op["measured"] and op["measured"]["speedup"] < 1]
    common = {"name": name, "ops": ops, "unmeasured": unmeasured, "slower": slower}
    put(out / "pyproject.toml", render("pyproject.toml", common))
    put(out / "README.md", render("README.md", common))
    put(out / name / "__init__.py", render("init.py", common))
    put(out / name / "table.py", render("table.py", common))
    put(out / name / "runtime.py", (Path(__file__).parent / "runtime.py").read_text(encoding="utf-8"))
    put(out / name / "kernels.json", json.dumps(rows, indent=1) + "\n")
    for folder, words in (
        ("kernels", "Triton kernels, verbatim"),
        ("references", "References in torch"),
        ("ops", "Functions, dispatching"),
    ):
        put(out / name / folder / "__init__.py", f'"""{words}, one module for each task."""\n')
    for op in ops:
        own = parts[op["name"]]
        put(out / name / "kernels" / f"{op['name']}.py", own.kernel)
        put(out / name / "references" / f"{op['name']}.py", own.reference)
        put(out / name / "ops" / f"{op['name']}.py", render("op.py", {"name": name, "op": op}))
        for path, data in (own.origin.files if own.origin else {}).items():
            target = out / "tests" / "tasks" / op["name"] / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    for test in ("asked.py", "test_checks.py", "test_ops.py"):
        put(out / "tests" / test, render(test, common))


def shown(row: Row) -> Row:
    """What the templates show of a line beside itself."""
    measured = row["measured"]
    speedup = "none measured" if measured is None else "{:.2f}x ({:.2f} to {:.2f})".format(measured["speedup"], *measured["ci"])
    writes = ["torch.compiler.is_compiling()"] if row["mutates"] else []
    return {
        "speedup": speedup,
        "place": row["device"] if measured else "-",
        "condition": " and ".join([*writes, *row["fits"]]),
    }


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))


def render(template: str, variables: Row) -> str:
    return environment().get_template(f"{template}.j2").render(**variables)


@cache
def environment() -> Environment:
    loader = PackageLoader("experiments.export")
    return Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
