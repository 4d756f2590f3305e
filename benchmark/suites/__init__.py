"""The suites, imported when they are asked for: naming them costs no torch."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, TypeVar

from benchmark.errors import UserError, unknown
from benchmark.importers import FORMATS

if TYPE_CHECKING:
    from benchmark.task import Task

Item = TypeVar("Item")


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
    if suite in FORMATS:
        raise UserError(
            f"{suite} is a suite in a checkout of your own, of which nothing is listed here: run it as benchmark={suite} "
            f"benchmark.path=FOLDER, or name one of its tasks as {suite}:FOLDER/TASK."
        )
    if suite not in names():
        raise unknown("suite", suite, names())
    return Suite(suite, tuple(import_module(f"{__name__}.{suite}").TASKS))


def find(task_id: str) -> "Task":
    """The task `suite/name`. Tasks in files of the user's are read by `tools.tasks.find`, which has a sandbox for them."""
    suite, slash, _ = task_id.partition("/")
    if ":" in task_id:
        raise UserError(
            f"{task_id} is in a file of your own, which is run in a sandbox only: this takes tasks of the suites, as suite/task."
        )
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
    keeps = [
        _kept(chosen, "category", category, lambda task: task.category),
        _kept(chosen, "source", source, lambda task: task.source),
        _kept(chosen, "task", tasks, lambda task: task.name, lambda task: task.id),
    ]
    chosen = [task for task in chosen if all(keep(task) for keep in keeps)]
    return few(chosen, limit, sample_seed)


def few(items: list[Item], limit: int | None, sample_seed: int | None) -> list[Item]:
    """The first ones, or with a seed a random few, in their order."""
    if limit is None or limit >= len(items):
        return items
    order = range(len(items))
    kept = order[:limit] if sample_seed is None else sorted(random.Random(sample_seed).sample(order, limit))
    return [items[index] for index in kept]


Key = Callable[["Task"], str]


def _kept(tasks: list["Task"], kind: str, wanted: Sequence[str] | str | None, *keys: Key) -> Callable[["Task"], bool]:
    """Whether one of a task's keys is wanted. Refuses what is the key of no task; where nothing is asked, all are wanted."""
    names = _listed(wanted or [])
    known = {key(task) for task in tasks for key in keys}
    for name in names:
        if name not in known:
            raise unknown(kind, name, {choice for choice in known if ("/" in choice) == ("/" in name)})
    return lambda task: not names or any(key(task) in names for key in keys)


def _listed(names: Sequence[str] | str) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
