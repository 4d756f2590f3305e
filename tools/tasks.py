"""Tasks by name, of every kind: those of the suites, and those in files that are not ours, which a reference sandbox describes."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark import importers, suites
from benchmark.errors import UserError, unknown
from benchmark.importers import described
from benchmark.importers.files import Listed
from benchmark.origin import Origin
from benchmark.task import Task
from tools.executor.compiled import CompileCache
from tools.executor.referee import Misread
from tools.executor.worker import Worker

FORMATS = importers.FORMATS
"""Suites that lie in a user's checkout."""


def find(task_id: str, args: Mapping[str, Any] | None = None, sandbox: str = "auto") -> Task:
    """`suite/name`, `./file.py:function`, or a format and the path of a task in its checkout. Raises `UserError`."""
    return find_all([task_id], args, sandbox)[0]


def find_all(ids: Sequence[str], args: Mapping[str, Any] | None = None, sandbox: str = "auto") -> list[Task]:
    """The same for several, which share the process that describes them."""
    origins = {name: importers.read(name, args) for name in ids if importers.is_foreign(name)}
    if args and len(origins) < len(set(ids)):
        ours = next(name for name in ids if name not in origins)
        raise UserError(f"task_args.{next(iter(args))} cannot be set for {ours}: only tasks from files of your own take options.")
    made = _described(origins, sandbox)
    return [made[name] if name in made else suites.find(name) for name in ids]


def select(
    suite: str,
    path: str | Path | None,
    category: Sequence[str] | str | None = None,
    tasks: Sequence[str] | str | None = None,
    limit: int | None = None,
    sample_seed: int | None = None,
    args: Mapping[str, Any] | None = None,
    sandbox: str = "auto",
) -> list[Task]:
    """Tasks of a checkout, in the order of their names; chosen as `benchmark.suites.select` does."""
    if path is None:
        raise UserError(f"benchmark={suite} lies in a checkout of your own: say where with benchmark.path=FOLDER.")
    if not Path(path).is_dir():
        raise UserError(f"There is no folder {str(path)!r}: benchmark.path is the folder of a checkout, relative to {Path.cwd()}.")
    chosen = importers.listed(suite, Path(path))
    chosen = _kept(chosen, "category", category, lambda listed: (listed.category,))
    chosen = _kept(chosen, "task", tasks, _names)
    if limit is not None and limit < len(chosen):
        order = range(len(chosen))
        kept = order[:limit] if sample_seed is None else sorted(random.Random(sample_seed).sample(order, limit))
        chosen = [chosen[index] for index in kept]
    return find_all([listed.id for listed in chosen], args, sandbox)


def _names(listed: Listed) -> tuple[str, ...]:
    """What a task of a checkout may be called."""
    *_, folder, stem = listed.id.replace(":", "/").split("/")
    return stem, f"{folder}/{stem}", listed.id


def _kept(chosen: list[Listed], kind: str, wanted: Any, names: Any) -> list[Listed]:
    wanted = [wanted] if isinstance(wanted, str) else list(wanted or [])
    known = {name for listed in chosen for name in names(listed)}
    for name in wanted:
        if name not in known:
            raise unknown(kind, name, {choice for choice in known if ("/" in choice) == ("/" in name) and ":" not in choice})
    return [listed for listed in chosen if not wanted or any(name in wanted for name in names(listed))]


def _described(origins: Mapping[str, Origin], sandbox: str) -> dict[str, Task]:
    if not origins:
        return {}
    worker = Worker(0, None, CompileCache(None))
    try:
        mode = worker.ready(worker.describing(), sandbox)
        worker.isolated(sandbox)
        return {name: described.task(name, worker.described(origin, mode)) for name, origin in origins.items()}
    except Misread as error:
        raise UserError(str(error)) from None
    finally:
        worker.stop()
