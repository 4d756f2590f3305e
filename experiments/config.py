"""What a run is asked to do, as plain dataclasses made from Hydra's composed config; every wrong key or value is one sentence."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal, get_type_hints

from agents import feedback
from agents.budget import Limits
from benchmark.errors import UserError, unknown
from scaffolds.options import convert


@dataclass
class Benchmark:
    suite: str = "quick"
    path: str | None = None
    category: str | list[str] | None = None
    tasks: str | list[str] | None = None
    source: str | list[str] | None = None
    limit: int | None = None
    sample_seed: int | None = None


@dataclass
class Executor:
    device: str = "auto"
    targets: list[str] | None = None
    sandbox: str = "auto"
    workers: int | None = None
    gpus: list[int] | int | None = None
    timing: str = "short"
    baselines: list[str] | str = "eager"
    profile: str = "roofline"


@dataclass
class Resume:
    run: str | None = None
    on_divergence: Literal["stop", "fork"] = "stop"


@dataclass
class RunConfig:
    """One run. `scaffold` holds the chosen scaffold's fields, which its own dataclass checks."""

    scaffold_name: str
    scaffold: dict[str, Any]
    benchmark: Benchmark = field(default_factory=Benchmark)
    executor: Executor = field(default_factory=Executor)
    budget: Limits = field(default_factory=Limits)
    rounds: int | None = None
    feedback_tokens: int = feedback.MAX_TOKENS
    model: str = "templates"
    model_args: dict[str, Any] = field(default_factory=dict)
    roles: dict[str, Any] = field(default_factory=dict)
    """By role, another model or other options of it, as `experiments.casting` reads them."""
    task: str | None = None
    task_args: dict[str, Any] = field(default_factory=dict)
    seed: int | list[int] = 0
    prices: dict[str, Any] = field(default_factory=dict)
    concurrency: int | None = None
    resume: Resume = field(default_factory=Resume)
    runs_dir: str = "runs"
    run_id: str | None = None

    @property
    def seeds(self) -> list[int]:
        return self.seed if isinstance(self.seed, list) else [self.seed]


@dataclass
class Collected:
    """What Hydra composed: the config as plain values, the chosen option of each group, and the overrides as they were typed."""

    body: dict[str, Any]
    choices: dict[str, str]
    overrides: list[str]


POSITIVE = ("rounds", "concurrency", "executor.workers", "benchmark.limit")
"""Keys that must be at least 1; budgets must be above 0."""


def parse(composed: Mapping[str, Any], scaffold: str) -> RunConfig:
    """The checked config; raises UserError on the first key or value that is wrong."""
    if "scaffold_name" in composed:
        raise unknown("key", "scaffold_name", known(RunConfig))
    config = build(RunConfig, {**composed, "scaffold_name": scaffold})
    for key, value in flat(config):
        if key in POSITIVE and value is not None and value < 1:
            raise UserError(f"{key} must be at least 1, not {value}.")
        if key == "feedback_tokens" and value < feedback.MIN_TOKENS:
            raise UserError(
                f"feedback_tokens must be at least {feedback.MIN_TOKENS}, not {value}: the verdict and its reason need as much."
            )
        if key.startswith("budget.") and value is not None and value <= 0:
            raise UserError(f"{key} must be above 0, not {value:g}; null is unlimited.")
    if config.run_id is not None and ("/" in config.run_id or config.run_id in ("", ".", "..")):
        raise UserError(f"run_id must be a plain name, not {config.run_id!r}; runs_dir says where runs lie.")
    if config.resume.on_divergence == "fork" and config.resume.run is None:
        raise UserError("resume.on_divergence=fork is for a run that goes on: name it with resume=runs/<run_id>.")
    if not config.seeds or len(set(config.seeds)) < len(config.seeds):
        raise UserError(f"seed must be a number or a list of different numbers, not {config.seed}.")
    return config


def build(kind: type, values: Mapping[str, Any], prefix: str = "") -> Any:
    """An instance of a dataclass from nested mappings, with keys and types checked."""
    hints = get_type_hints(kind)
    for key in values:
        if key not in hints:
            raise unknown("key", prefix + str(key), [prefix + name for name in known(kind)])
    made = {}
    for key, value in values.items():
        hint = hints[key]
        if isinstance(hint, type) and is_dataclass(hint):
            if not isinstance(value, Mapping):
                raise UserError(f"{prefix}{key} is a group of keys; set one as {prefix}{key}.{fields(hint)[0].name}=..., not {value!r}.")
            made[key] = build(hint, value, f"{prefix}{key}.")
        else:
            made[key] = convert(value, hint, prefix + key)
    return kind(**made)


def known(kind: type) -> list[str]:
    """The keys that a user may set."""
    return [f.name for f in fields(kind) if f.name != "scaffold_name"]


def flat(config: Any, prefix: str = "") -> list[tuple[str, Any]]:
    """(dotted key, value) of every leaf."""
    leaves: list[tuple[str, Any]] = []
    for f in fields(config):
        value = getattr(config, f.name)
        leaves += flat(value, f"{prefix}{f.name}.") if is_dataclass(value) else [(prefix + f.name, value)]
    return leaves
