"""Under what runs were made, as flat words that can be compared."""

from collections.abc import Sequence
from typing import Any

from experiments.runs import Run

ASIDE = ("defaults", "hydra", "resume", "run_id", "runs_dir", "seed", "scaffold", "model", "concurrency")
"""Of the configuration: where and how it went on, and what the environment tells."""
SEEDS = "seeds"


def told(run: Run) -> dict[str, str]:
    """Every condition by its dotted name: device, versions, tasks asked with their digests, seeds, settings, budgets, prompts."""
    known = run.environment
    asked = known["asked"]
    facts = {
        "scaffold": known.get("scaffold"),
        "model": known.get("model"),
        "roles": known.get("roles"),
        "device": {key: value for key, value in (known.get("device") or {}).items() if key != "count"},
        "machine": (known.get("machine") or {}).get("system"),
        "python": known.get("python"),
        "packages": known.get("packages"),
        "revision": known.get("revision"),
        "templates": known.get("templates"),
        "tasks": {task: about["sha"] for task, about in asked["tasks"].items()},
        SEEDS: asked["seeds"],
        "config": {key: value for key, value in run.config.items() if key not in ASIDE},
    }
    return flat(facts)


def flat(values: dict[str, Any], before: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in values.items():
        name = f"{before}{key}"
        if isinstance(value, dict):
            found |= flat(value, f"{name}.")
        elif value is not None:
            found[name] = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return found


def differing(runs: Sequence[Run]) -> dict[str, list[str]]:
    """What is not the same in all runs: a value for each, `-` where a run has none. Tasks and prompts are told as one line each."""
    all_told = [told(run) for run in runs]
    names = list(dict.fromkeys(name for facts in all_told for name in facts if not name.startswith(("tasks.", "templates."))))
    values = {name: [facts.get(name, "-") for facts in all_told] for name in names}
    values["tasks"] = lettered([part(facts, "tasks.") for facts in all_told])
    values["prompts"] = lettered([part(facts, "templates.") for facts in all_told], count=False)
    return {name: row for name, row in values.items() if len(set(row)) > 1}


def part(facts: dict[str, str], prefix: str) -> frozenset[tuple[str, str]]:
    return frozenset((name, value) for name, value in facts.items() if name.startswith(prefix))


def lettered(sets: Sequence[frozenset[tuple[str, str]]], count: bool = True) -> list[str]:
    """A letter for each different set, in order of appearance, with its size."""
    order = list(dict.fromkeys(sets))
    return [f"{chr(65 + order.index(found))}{f' ({len(found)})' if count else ''}" for found in sets]


def shared_tasks(runs: Sequence[Run]) -> tuple[set[str], dict[str, str]]:
    """Tasks that every run was asked, with the same digest; and of the others, why they are not."""
    asked = [{task: about["sha"] for task, about in run.environment["asked"]["tasks"].items()} for run in runs]
    shared, why = set(), {}
    for task in dict.fromkeys(task for tasks in asked for task in tasks):
        lacking = [run.run_id for run, tasks in zip(runs, asked, strict=True) if task not in tasks]
        if lacking:
            why[task] = f"not asked of {', '.join(lacking)}"
        elif len({tasks[task] for tasks in asked}) > 1:
            why[task] = "its cases or reference differ"
        else:
            shared.add(task)
    return shared, why
