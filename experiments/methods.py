"""What is compared: runs whose conditions differ in the seeds alone are one method, under one label everywhere."""

from collections.abc import Sequence

from experiments import conditions
from experiments.runs import Run

TOLD, LONG = 2, 24
"""Conditions that a label tells at most, and characters of a value."""


def groups(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs of one group have the same conditions but for the seeds, and no seed in common: a seed run twice is two groups."""
    found: list[tuple[dict[str, str], set[int], list[Run]]] = []
    for run in runs:
        told = {name: value for name, value in conditions.told(run).items() if name != conditions.SEEDS}
        seeds = set(run.environment["asked"]["seeds"])
        place = next((group for group in found if group[0] == told and not group[1] & seeds), None)
        if place is None:
            found.append((told, seeds, [run]))
        else:
            place[1].update(seeds)
            place[2].append(run)
    return [members for _, _, members in found]


def labels(found: Sequence[Sequence[Run]]) -> list[str]:
    """Of each group its scaffold; with the model where models differ; where both are the same with the conditions that are not, or where
    those are many, with the runs' ids."""
    told = [(group[0].environment["scaffold"]["name"], group[0].environment["model"]) for group in found]
    several = len({model for _, model in told}) > 1
    names = [f"{scaffold}, {model}" if several else scaffold for scaffold, model in told]
    more = {name: iter(apart([group for group, other in zip(found, names, strict=True) if other == name])) for name in names}
    return [name if names.count(name) == 1 else f"{name}, {next(more[name])}" for name in names]


def apart(same: Sequence[Sequence[Run]]) -> list[str]:
    """What tells groups of one scaffold and model from one another."""
    differing = conditions.differing([group[0] for group in same])
    differing.pop(conditions.SEEDS, None)
    names = [name.removeprefix("scaffold.").removeprefix("config.") for name in differing]
    values = list(zip(*differing.values(), strict=True))
    if 0 < len(names) <= TOLD and len(set(values)) == len(same) and all(len(value) <= LONG for row in values for value in row):
        return [", ".join(f"{name}={value}" for name, value in zip(names, row, strict=True)) for row in values]
    return [" and ".join(run.run_id for run in group) for group in same]


def labelled(runs: Sequence[Run]) -> list[str]:
    """The method of each run, in the order of the runs."""
    found = groups(runs)
    by = {run.path: label for group, label in zip(found, labels(found), strict=True) for run in group}
    return [by[run.path] for run in runs]
