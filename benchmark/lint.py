"""`python -m benchmark.lint`: are the tasks fit to judge by?

For each task, on each correctness case:
- the honest computation passes, and writes no argument that the contract does not name;
- zeros, ones, the mean, each input as the output, the output for another seed, and a computation in the next lower precision
  (`precision.LOWER`: inputs and outputs cut to its mantissa) fail, unless they are the honest result to the bit, as zeros
  are for an empty tensor.
Of a random operator two honest calls must be found independent, and one result given twice must not.

And over the cases of a task: each probe fails at least once, the task's own `wrong` answers too, and the lower precision once
for each floating-point dtype of the inputs; the output varies with the seed, and with every tensor argument.

A task may be exempt from a probe by name and reason; then the probe must be right on every case. Exemptions are printed; no task
of `quick` has one, and at most 40 tasks in all.

`--device` does all of it there, with the cases that only a device is given; `--timing` also runs each timed size with its oracle,
and on a device says which reference is slow or large. `--workers` processes share the tasks.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from os import sched_getaffinity
from typing import Any

import torch

from benchmark import oracle, suites
from benchmark.console import show
from benchmark.devices import usable
from benchmark.errors import UserError
from benchmark.probes import Trial, influences, probes, written
from benchmark.stopwatch import milliseconds
from benchmark.task import Task

COLUMNS = ("zeros", "ones", "mean", "input", "previous", "repeated", "lower", "wrong")
HEAD = ("task", "cases", "held out", "honest", *COLUMNS, "exempt", "")
EXEMPT = 40
"""Tasks that may have exemptions."""
LARGE, SLOW = 8 << 30, 50.0
"""Bytes with the oracle, and milliseconds of a call, that no timed size of a reference may exceed on a device."""


@dataclass
class Finding:
    """What lint saw of one task. Plain data: it comes from another process."""

    id: str
    cases: int
    held_out: int
    exempt: dict[str, str]
    wrong: tuple[str, ...]
    """Names of the task's own wrong answers."""
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

    @classmethod
    def of(cls, task: Task) -> "Finding":
        return cls(task.id, len(task.cases), sum(case.held_out for case in task.cases), dict(task.exempt), tuple(task.wrong))

    def cell(self, column: str) -> str:
        names = [name for name in self.applied if self._column(name) == column]
        applied, failed = sum(self.applied[name] for name in names), sum(self.failed[name] for name in names)
        return f"{failed}/{applied}" if names else "-"

    def _column(self, probe: str) -> str:
        return "wrong" if probe in self.wrong else probe.partition(" ")[0]

    def row(self) -> list[str]:
        verdict = "ok" if not self.faults else f"{len(self.faults)} faults"
        counts = [str(self.cases), str(self.held_out), f"{self.honest}/{self.cases}"]
        return [self.id, *counts, *map(self.cell, COLUMNS), str(len(self.exempt)), verdict]


def lint(task: Task, seed: int = 0, device: str = "cpu", timing: bool = False) -> Finding:
    # Honest random operators draw from torch's own generator.
    torch.manual_seed(seed)
    finding = Finding.of(task)
    names = [case.name for case in (*task.cases, *task.timing)]
    finding.faults += [f"two cases are named {name!r}" for name, count in Counter(names).items() if count > 1]
    for case in task.cases:
        trial = Trial(task, case, seed, device)
        if not case.device_only:
            attempt(finding, trial, try_case)
        elif device != "cpu":
            attempt(finding, trial, try_honest)
    for case in task.timing if timing else ():
        attempt(finding, Trial(task, case, seed, device), try_timed)
    judge(finding)
    return finding


def attempt(finding: Finding, trial: Trial, what: Callable[["Finding", Trial], None]) -> None:
    """What a task raises is a fault of that task, and says nothing of the others."""
    try:
        what(finding, trial)
    except Exception as error:
        finding.faults.append(f"{trial.case.name}: {type(error).__name__}: {(str(error).strip() or '-').splitlines()[0]}")


def try_case(finding: Finding, trial: Trial) -> None:
    task, name = trial.task, trial.case.name
    try_honest(finding, trial)
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
    if task.contract.random:
        try_twice(finding, trial)
    finding.dtypes |= trial.float_dtypes
    if not trial.same(trial.previous):
        finding.varied["seed"] += 1
    for argument, counts in influences(trial):
        finding.seen.add(argument)
        finding.varied[argument] += counts


def try_twice(finding: Finding, trial: Trial) -> None:
    """Of a random operator: two honest calls are independent, and one result given twice is not, where anything is drawn."""
    checker: Any = trial.task.contract.checker
    first, second = trial.oracle.honest, trial.honest(trial.arguments)
    if not (check := checker.fresh(trial.oracle, first, second, trial.arguments)).ok:
        finding.faults.append(f"{trial.case.name}: two honest calls fail: {check.message}")
    finding.probes["repeated"] += 1
    finding.applied["repeated"] += 1
    finding.failed["repeated"] += not checker.fresh(trial.oracle, first, first, trial.arguments).ok


def try_honest(finding: Finding, trial: Trial) -> None:
    check = trial.check(trial.oracle.honest)
    finding.honest += check.ok
    if not check.ok:
        finding.faults.append(f"{trial.case.name}: the honest computation fails: {check.message}")


def try_timed(finding: Finding, trial: Trial) -> None:
    """The honest computation passes; on a device, the size and the time of the reference are within bounds."""
    name, on_device = trial.case.name, trial.device != "cpu"
    if on_device:
        torch.accelerator.reset_peak_memory_stats()
    check = trial.check(trial.oracle.honest)
    if not check.ok:
        finding.faults.append(f"{name}: the honest computation fails: {check.message}")
    if on_device:
        if (peak := torch.accelerator.max_memory_allocated()) > LARGE:
            finding.faults.append(f"{name}: {peak / 2**30:.1f} GiB with the oracle, where {LARGE >> 30} are allowed")
        if (took := milliseconds(partial(oracle.call, trial.task.reference, oracle.copied(trial.arguments)), trial.device, calls=5)) > SLOW:
            finding.faults.append(f"{name}: a call of the reference takes {took:.0f} ms, where {SLOW:.0f} are allowed")


def judge(finding: Finding) -> None:
    """What must hold over all cases."""
    faults, exempt = finding.faults, finding.exempt
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
    if finding.held_out < 2:
        faults.append(f"{finding.held_out} held-out cases, where two are needed")
    if exempt and finding.id.startswith("quick/"):
        faults.append("no task of quick may be exempt from anything")


def found(tasks: Sequence[str], device: str, timing: bool, workers: int) -> Iterator[Finding]:
    """The findings in order, as they come."""
    one = partial(_one, device=device, timing=timing)
    if workers == 1:
        yield from map(one, tasks)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        yield from pool.map(one, tasks)


def _one(task_id: str, device: str, timing: bool) -> Finding:
    torch.set_num_threads(1)
    return lint(suites.find(task_id), device=device, timing=timing)


def line(cells: Sequence[str], first: int) -> str:
    widths = [first, *(max(6, len(cell)) for cell in HEAD[1:])]
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def report(findings: Sequence[Finding]) -> int:
    """Prints exemptions, faults and sums; the exit code."""
    for finding in findings:
        for probe, reason in finding.exempt.items():
            show(f"exempt: {finding.id}: {probe}: {reason}")
    for finding in findings:
        for fault in finding.faults:
            show(f"{finding.id}: {fault}")
    shown = sum(finding.applied.total() for finding in findings)
    failed = sum(finding.failed.total() for finding in findings)
    exempt = sum(bool(finding.exempt) for finding in findings)
    faulty = sum(bool(finding.faults) for finding in findings)
    show(
        f"{len(findings)} tasks, {shown} wrong answers shown, {failed} refused, {exempt} tasks with exemptions, {faulty} tasks with faults"
    )
    if exempt > EXEMPT:
        show(f"{exempt} tasks have exemptions, where {EXEMPT} may")
    return 3 if faulty or exempt > EXEMPT else 0


def chosen(options: argparse.Namespace) -> list[str]:
    """Ids of the tasks to look at."""
    if options.task:
        return [suites.find(name).id for name in options.task]
    limits = {"limit": options.limit, "sample_seed": options.sample_seed}
    return [task.id for task in suites.select(options.suite or suites.names(), options.category, **limits)]


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmark.lint", description="Shows each task's checker the answers that must fail. The cells are failed / shown."
    )
    parser.add_argument("--suite", action="append", help="a suite; all of them by default")
    parser.add_argument("--category", action="append", help="a category")
    parser.add_argument("--task", action="append", help="a task of the suites (quick/gelu)")
    parser.add_argument("--limit", type=int, help="at most so many tasks: the first ones, or with --sample-seed a sample")
    parser.add_argument("--sample-seed", type=int)
    parser.add_argument("--device", default="cpu", help="where cases, oracles and checks are computed")
    parser.add_argument("--timing", action="store_true", help="look at the timed sizes, too")
    parser.add_argument("--workers", type=int, help="processes; by default the cores at hand, four on a device")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    try:
        usable(options.device)
        tasks = chosen(options)
        most = len(sched_getaffinity(0)) if options.device == "cpu" else 4
        first = max(map(len, tasks), default=0)
        findings = []
        show(line(HEAD, first))
        for finding in found(tasks, options.device, options.timing, max(1, min(options.workers or most, len(tasks)))):
            show(line(finding.row(), first))
            findings.append(finding)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return report(findings)


if __name__ == "__main__":
    sys.exit(main())
