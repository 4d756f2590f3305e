"""Tasks by name, of every kind: those of the suites, and those in files that are not ours, which a reference sandbox describes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

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


class Finder:
    """Finds tasks as long as it is open; the process that foreign files are described by starts with the first of them."""

    def __init__(self, sandbox: str = "auto"):
        """`sandbox`: the isolation level."""
        self.sandbox = sandbox
        self.worker: Worker | None = None
        self.mode = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self.worker:
            self.worker.stop()

    def find(self, task_id: str, args: Mapping[str, Any] | None = None) -> Task:
        """`suite/name`, `./file.py:function`, or a format and the path of a task in its checkout. Raises `UserError`."""
        if importers.is_foreign(task_id):
            return self._foreign(task_id, importers.read(task_id, args))
        if args:
            raise UserError(f"task_args.{next(iter(args))} cannot be set for {task_id}: only tasks from files of your own take options.")
        return suites.find(task_id)

    def _foreign(self, task_id: str, origin: Origin) -> Task:
        if self.worker is None:
            self.worker = Worker(0, None, CompileCache(None))
            self.mode = self.worker.ready(self.worker.describing(), self.sandbox)
            self.worker.isolated(self.sandbox)
        try:
            return described.task(task_id, self.worker.described(origin, self.mode))
        except Misread as error:
            raise UserError(str(error)) from None


def find(task_id: str, args: Mapping[str, Any] | None = None, sandbox: str = "auto") -> Task:
    """One task. Raises `UserError`."""
    with Finder(sandbox) as finder:
        return finder.find(task_id, args)


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
    folder = Path(str(path))
    if not folder.is_dir():
        raise UserError(f"There is no folder {str(path)!r}: benchmark.path is the folder of a checkout, relative to {Path.cwd()}.")
    chosen = importers.listed(suite, folder)
    chosen = _kept(chosen, "category", category, lambda listed: (listed.category,))
    chosen = _kept(chosen, "task", tasks, _names)
    chosen = suites.few(chosen, limit, sample_seed)
    with Finder(sandbox) as finder:
        return [finder.find(listed.id, args) for listed in chosen]


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
