"""From composed configs to runs that can start: everything that can be wrong is found here, and nothing is written."""

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from agents.ledger import Ledger
from agents.models.base import Model
from agents.models.make import make
from agents.prices import Prices, stored
from benchmark import suites
from benchmark.errors import UserError
from benchmark.task import Task
from experiments.casting import cast
from experiments.config import Collected, Resume, RunConfig, parse
from experiments.runs import Run
from scaffolds import loader
from tools import tasks as files

PACE = ("concurrency", "requests_per_minute", "tokens_per_minute", "timeout_s")
HARMLESS = (
    *("resume.run", "resume.on_divergence", "concurrency", "executor.workers", "executor.gpus", "budget."),
    *(f"model_args.{name}" for name in PACE),
)
"""Overrides that may come with `resume=`: they change how fast and how far a run goes, never what it asks."""
CONF = "pkg://experiments.conf"
HEADER = "# The resolved config of a run. The same again: python -m experiments.run --config-path {path} --config-name config\n"


@dataclass
class Plan:
    """One run, ready to start."""

    collected: Collected
    config: RunConfig
    scaffold: Any
    """The scaffold's own config."""
    tasks: list[Task]
    model: Model
    cast: dict[str, Model]
    """Models of roles that are not the run's."""
    path: Path
    resumed: Run | None

    @property
    def name(self) -> str:
        return self.config.scaffold_name

    @property
    def models(self) -> list[Model]:
        return [self.model, *self.cast.values()]

    @property
    def trajectories(self) -> list[tuple[Task, int]]:
        return [(task, seed) for seed in self.config.seeds for task in self.tasks]

    def yaml(self) -> str:
        """`config.yaml`: Hydra composes it again as it is; the run's own name is left out, so that it gets another."""
        body = {**self.collected.body, "rounds": None, "resume": asdict(Resume()), "run_id": None, "scaffold": asdict(self.scaffold)}
        quiet = [{"override hydra/job_logging": "none"}, {"override hydra/hydra_logging": "none"}]
        groups = [{group: self.collected.choices[group]} for group in ("scaffold", "benchmark", "executor")]
        hydra = {"output_subdir": None, "run": {"dir": "."}, "sweep": {"dir": "${scratch:}", "subdir": "."}, "searchpath": [CONF]}
        text = OmegaConf.to_yaml(OmegaConf.create({"defaults": ["open", *groups, "_self_", *quiet], **body, "hydra": hydra}))
        return HEADER.format(path=self.path.resolve()) + text


def prepare(all_collected: list[Collected]) -> tuple[list[Plan], Ledger]:
    """Plans of all runs and the one budget that they share. Raises UserError before any of them has begun."""
    plans = [plan(collected) for collected in all_collected]
    if any(p.config.budget != plans[0].config.budget or p.config.prices != plans[0].config.prices for p in plans):
        raise UserError("All runs of one -m share one budget and one price table: do not sweep over budget or prices.")
    kept = {model.name: stored(p.resumed.prices).get(model.name) for p in plans if p.resumed for model in p.models}
    ledger = Ledger(plans[0].config.budget, Prices.load(plans[0].config.prices, kept))
    for model in (model for p in plans for model in p.models):
        ledger.prices.row(model.name, model.free)
        ledger.admit(model)
    name_apart(plans)
    return plans, ledger


def plan(collected: Collected) -> Plan:
    resumed = None
    if (run := collected.body["resume"]["run"]) is not None:
        resumed = Run(Path(str(run)))
        collected = reopened(resumed, collected)
    config = parse(collected.body, collected.choices["scaffold"])
    tasks = chosen(config)
    by_id = {task.id: task for task in tasks}.__getitem__
    scaffold = loader.build_config(config.scaffold_name, config.scaffold, config.rounds)  # Its import may add roles.
    model = make(config.model, config.model_args, by_id)
    others = cast(config.roles, config.model, config.model_args, by_id)
    path = resumed.path if resumed else Path(config.runs_dir) / (config.run_id or label(config))
    if resumed:
        check_unchanged(resumed, tasks)
    elif config.run_id and path.exists():
        raise UserError(
            f"Run directory {path} exists; a run is never overwritten. Continue it with resume={path}, or choose another run_id."
        )
    return Plan(collected, config, scaffold, tasks, model, others, path, resumed)


def reopened(run: Run, collected: Collected) -> Collected:
    """The stored config of a run, with the overrides that may come with `resume=`."""
    keys = [override.lstrip("+").partition("=")[0] for override in collected.overrides]
    for key in keys:
        if not any(key == allowed or (allowed.endswith(".") and key.startswith(allowed)) for allowed in HARMLESS):
            allowed_keys = ", ".join(name.rstrip(".") for name in HARMLESS[1:])
            raise UserError(f"resume= takes the run's own config, so {key} cannot be set with it; only {allowed_keys} can.")
    stored = dict(run.config)
    stored.pop("hydra", None)
    choices = {group: name for entry in stored.pop("defaults") if isinstance(entry, dict) for group, name in entry.items()}
    for key in keys:
        if not key.startswith("resume."):
            stored = overlaid(stored, key, collected.body)
    return Collected({**stored, "resume": collected.body["resume"]}, choices, [])


def overlaid(stored: Mapping[str, Any], typed: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """`stored` with what `body` has under a dotted key; groups that an older config lacks are made."""
    head, _, rest = typed.partition(".")
    group = stored.get(head, {})
    if rest and not isinstance(group, Mapping):
        return dict(stored)
    return {**stored, head: overlaid(group, rest, body[head]) if rest else body[head]}


def chosen(config: RunConfig) -> list[Task]:
    """The tasks asked for, by `task=` or by the benchmark group."""
    sandbox = config.executor.sandbox
    if config.task is not None:
        return [files.find(config.task, config.task_args, sandbox)]
    asked = asdict(config.benchmark)
    suite, path, source = asked["suite"], asked.pop("path"), asked["source"]
    if suite in files.FORMATS:
        if source is not None:
            raise UserError(
                f"benchmark.source cannot be set for {suite}: its tasks do not say where they come from; use category or tasks."
            )
        del asked["source"]
        return some(files.select(path=path, args=config.task_args, sandbox=sandbox, **asked), suite)
    if path is not None:
        raise UserError(f"benchmark.path cannot be set for {suite}, which is ours; suites of a checkout are {', '.join(files.FORMATS)}.")
    if config.task_args:
        raise UserError(
            f"task_args.{next(iter(config.task_args))} cannot be set for {suite}: only tasks from files of your own take options."
        )
    return some(suites.select(**asked), suite)


def some(tasks: list[Task], suite: str) -> list[Task]:
    if not tasks:
        asked = "benchmark.category, tasks and source together"
        raise UserError(f"No task of suite {suite!r} fits {asked}; `python -m benchmark.list` shows all.")
    return tasks


def check_unchanged(run: Run, tasks: list[Task]) -> None:
    asked = run.environment["asked"]["tasks"]
    changed = [task.id for task in tasks if asked.get(task.id, {}).get("sha") != task.sha]
    if changed or len(asked) != len(tasks):
        what = ", ".join(changed) or "another selection"
        raise UserError(f"Tasks of {run.path} changed since it began ({what}), so that verdicts would not compare. Start a new run.")


def label(config: RunConfig) -> str:
    """A run's name where the user gave none: when, what, who."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return "-".join((stamp, config.scaffold_name, re.sub(r"[^\w.]+", "-", config.model).strip("-")))


def name_apart(plans: list[Plan]) -> None:
    """Gives generated names that are taken, on disk or by a sibling, a number; two equal names that were typed are an error."""
    taken: set[Path] = set()
    for p in plans:
        base, number = p.path, 1
        while p.path in taken or (p.resumed is None and p.config.run_id is None and p.path.exists()):
            if p.config.run_id is not None or p.resumed:
                raise UserError(f"Two runs of this -m would write {p.path}; leave run_id out, so that each gets a name of its own.")
            number += 1
            p.path = base.with_name(f"{base.name}-{number}")
        taken.add(p.path)
