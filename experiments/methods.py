"""What is compared: runs whose conditions differ in the seeds alone are one method, under one label everywhere."""

from collections.abc import Sequence

from experiments import conditions
from experiments.runs import Run


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
    """Of each group its scaffold; with the model where models differ; with the runs' ids where both are the same."""
    told = [(group[0].environment["scaffold"]["name"], group[0].environment["model"]) for group in found]
    several = len({model for _, model in told}) > 1
    names = [f"{scaffold}, {model}" if several else scaffold for scaffold, model in told]
    ids = [" and ".join(run.run_id for run in group) for group in found]
    return [name if names.count(name) == 1 else f"{name}, {of}" for name, of in zip(names, ids, strict=True)]


def labelled(runs: Sequence[Run]) -> list[str]:
    """The method of each run, in the order of the runs."""
    found = groups(runs)
    by = {run.path: label for group, label in zip(found, labels(found), strict=True) for run in group}
    return [by[run.path] for run in runs]
