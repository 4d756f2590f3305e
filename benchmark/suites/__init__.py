"""The suites, imported when they are asked for: naming them costs no torch."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from benchmark.errors import UserError, unknown

if TYPE_CHECKING:
    from benchmark.task import Task


@dataclass(frozen=True)
class Suite:
    name: str
    tasks: tuple["Task", ...]

    @property
    def categories(self) -> list[str]:
        return sorted({task.category for task in self.tasks})


def names() -> list[str]:
    return sorted(module.name for module in iter_modules(__path__) if not module.name.startswith("_"))


def load(suite: str) -> Suite:
    if suite not in names():
        raise unknown("suite", suite, names())
    return Suite(suite, tuple(import_module(f"{__name__}.{suite}").TASKS))


def find(task_id: str) -> "Task":
    """The task `suite/name`, or the user's own, `./file.py:function`."""
    path, colon, function = task_id.rpartition(":")
    if colon and path.endswith(".py"):
        from benchmark.own import own_task

        return own_task(task_id, path, function)
    suite, slash, _ = task_id.partition("/")
    if not slash:
        raise UserError(f"No task {task_id!r}: name it suite/task, or ./file.py:function; `python -m benchmark.list` shows all tasks.")
    by_id = {task.id: task for task in load(suite).tasks}
    if task_id not in by_id:
        raise unknown("task", task_id, by_id)
    return by_id[task_id]


def select(
    suite: Sequence[str] | str,
    category: Sequence[str] | str | None = None,
    tasks: Sequence[str] | str | None = None,
    source: Sequence[str] | str | None = None,
    limit: int | None = None,
    sample_seed: int | None = None,
) -> list["Task"]:
    """Tasks of one suite or several, in their order. `tasks` are names or ids; `limit` takes the first ones, or with `sample_seed`
    a random few."""
    chosen = [task for name in _listed(suite) for task in load(name).tasks]
    chosen = _keep(chosen, "category", category, lambda task: task.category)
    chosen = _keep(chosen, "source", source, lambda task: task.source)
    chosen = _keep(chosen, "task", tasks, lambda task: task.name, lambda task: task.id)
    if limit is not None and limit < len(chosen):
        order = range(len(chosen))
        kept = order[:limit] if sample_seed is None else sorted(random.Random(sample_seed).sample(order, limit))
        chosen = [chosen[index] for index in kept]
    return chosen


def _keep(tasks: list["Task"], kind: str, wanted: Sequence[str] | str | None, *keys: Callable[["Task"], str]) -> list["Task"]:
    """Those of which one of the keys is wanted; everything where nothing is asked."""
    if not wanted:
        return tasks
    values = {key(task) for task in tasks for key in keys}
    for name in _listed(wanted):
        if name not in values:
            raise unknown(kind, name, values)
    return [task for task in tasks if any(key(task) in _listed(wanted) for key in keys)]


def _listed(names: Sequence[str] | str) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
