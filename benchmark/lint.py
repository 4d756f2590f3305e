"""`python -m benchmark.lint`: are the tasks fit to judge by?

For each task, on each correctness case:
- the honest computation passes, and writes no argument that the contract does not name;
- zeros, ones, the mean, each input as the output, the output for another seed, and a computation in the next lower precision
  (`precision.LOWER`: inputs and outputs cut to its mantissa) fail, unless they are the honest result to the bit, as zeros
  are for an empty tensor.
And over the cases of a task: each probe fails at least once, the task's own `wrong` answers too, and the lower precision once
for each floating-point dtype of the inputs; the output varies with the seed, and with every tensor argument.

A task may be exempt from a probe by name and reason; then the probe must be right on every case.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from benchmark import suites
from benchmark.console import show
from benchmark.errors import UserError
from benchmark.probes import Trial, influences, probes, written
from benchmark.task import Task

COLUMNS = ("zeros", "ones", "mean", "input", "previous", "lower", "wrong")


@dataclass
class Finding:
    """What lint saw of one task."""

    task: Task
    faults: list[str] = field(default_factory=list)
    honest: int = 0
    probes: Counter[str] = field(default_factory=Counter)
    """Cases that have elements, by probe."""
    applied: Counter[str] = field(default_factory=Counter)
    """Cases where the probe is not the honest result, and where it failed."""
    failed: Counter[str] = field(default_factory=Counter)
    dtypes: set[torch.dtype] = field(default_factory=set)
    """Floating-point dtypes of inputs that occur."""
    lower: Counter[torch.dtype] = field(default_factory=Counter)
    """Cases by these that tell the next lower precision from the right answer."""
    varied: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)
    """Tensor arguments that occur."""

    def cell(self, column: str) -> str:
        names = [name for name in self.applied if column_of(self.task, name) == column]
        applied, failed = sum(self.applied[name] for name in names), sum(self.failed[name] for name in names)
        return f"{failed}/{applied}" if names else "-"


def column_of(task: Task, probe: str) -> str:
    return "wrong" if probe in task.wrong else probe.partition(" ")[0]


def lint(task: Task, seed: int = 0) -> Finding:
    finding = Finding(task)
    names = [case.name for case in (*task.cases, *task.timing)]
    finding.faults += [f"two cases are named {name!r}" for name, count in Counter(names).items() if count > 1]
    for case in task.cases:
        if case.device_only:
            continue
        try_case(finding, Trial(task, case, seed))
    judge(finding)
    return finding


def try_case(finding: Finding, trial: Trial) -> None:
    task, name = finding.task, trial.case.name
    check = trial.check(trial.oracle.honest)
    finding.honest += check.ok
    if not check.ok:
        finding.faults.append(f"{name}: the honest computation fails: {check.message}")
    for argument in written(task, trial.arguments, task.reference):
        finding.faults.append(f"{name}: the reference writes {argument}, which the contract does not say")
    for probe, outputs in probes(trial):
        finding.probes[probe] += any(output.numel() for output in outputs)
        if trial.same(outputs):
            continue
        finding.applied[probe] += 1
        ok = trial.check(outputs).ok
        finding.failed[probe] += not ok
        if probe == "lower":
            for dtype in trial.float_dtypes:
                finding.lower[dtype] += not ok
        if ok and probe not in task.exempt and probe not in task.wrong:
            finding.faults.append(f"{name}: {probe} passes")
    finding.dtypes |= trial.float_dtypes
    if not trial.same(trial.previous):
        finding.varied["seed"] += 1
    for argument, counts in influences(trial):
        finding.seen.add(argument)
        finding.varied[argument] += counts


def judge(finding: Finding) -> None:
    """What must hold over all cases."""
    faults, exempt = finding.faults, finding.task.exempt
    faults += [
        f"{probe} fails on no case"
        for probe, shown in finding.probes.items()
        if shown and not finding.failed[probe] and probe not in exempt
    ]
    for probe, reason in exempt.items():
        if finding.failed[probe]:
            faults.append(f"{probe} is exempt ({reason}) and yet wrong on {finding.failed[probe]} cases")
    if "lower" not in exempt:
        blind = sorted(str(dtype).removeprefix("torch.") for dtype in finding.dtypes if not finding.lower[dtype])
        faults += [f"lower fails on no {dtype} case" for dtype in blind]
    faults += [f"the output does not vary with {what}" for what in ("seed", *sorted(finding.seen)) if not finding.varied[what]]
    held_out = sum(case.held_out for case in finding.task.cases)
    if held_out < 2:
        faults.append(f"{held_out} held-out cases, where two are needed")


def table(findings: Sequence[Finding]) -> str:
    rows = [["task", "cases", "held out", "honest", *COLUMNS, "exempt", ""]]
    for finding in findings:
        cases = finding.task.cases
        counts = [str(len(cases)), str(sum(case.held_out for case in cases)), f"{finding.honest}/{len(cases)}"]
        verdict = "ok" if not finding.faults else f"{len(finding.faults)} faults"
        rows.append([finding.task.id, *counts, *map(finding.cell, COLUMNS), str(len(finding.task.exempt)), verdict])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmark.lint", description="Shows each task's checker the answers that must fail. The cells are failed / shown."
    )
    parser.add_argument("--suite", help="one suite; all of them by default")
    parser.add_argument("--task", action="append", default=[], help="a task (quick/gelu, ./my_ops.py:function); may be given several times")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    torch.set_num_threads(1)
    try:
        chosen = [suites.find(name) for name in options.task]
        if not chosen:
            chosen = [task for suite in ([options.suite] if options.suite else suites.names()) for task in suites.load(suite).tasks]
        findings = [lint(task) for task in chosen]
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    show(table(findings))
    faulty = [finding for finding in findings if finding.faults]
    for finding in faulty:
        show("\n".join(f"{finding.task.id}: {fault}" for fault in finding.faults))
    shown = sum(finding.applied.total() for finding in findings)
    failed = sum(finding.failed.total() for finding in findings)
    exemptions = sum(len(finding.task.exempt) for finding in findings)
    show(f"{len(findings)} tasks, {shown} wrong answers shown, {failed} refused, {exemptions} exemptions, {len(faulty)} tasks with faults")
    return 3 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
