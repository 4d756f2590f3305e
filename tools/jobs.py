"""The batch door: a file of jobs in, a file of results out, one line each; a second start goes on where the first one ended.

A job is `{"id", "task", "candidate"}`, the candidate as source text, with `task_args` where the task takes options; further fields are
passed over. A result is
`{"id", "evaluation"}` with the evaluation as `--json` prints it (nothing of held-out cases), or `{"id", "error"}`, or, where the
line has no id of its own, `{"line", "error"}`. Results stand in the order in which they were found.
"""

import asyncio
import fcntl
import json
import os
import signal
import sys
import traceback
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.task import Task
from tools import jsonl
from tools.executor.local import LocalExecutor
from tools.executor.stages.course import sha
from tools.settings import Settings
from tools.tasks import Finder

Key = tuple[str, str, str, str, str]
"""Digests of candidate, task (its id and its digest), environment and settings: what a verdict depends on."""
AGAIN = frozenset({"infra_error"})
"""Verdicts of our own making, which a second start does not take for a result."""


@dataclass(frozen=True)
class Job:
    id: str | int
    task: Task
    candidate: str

    def key(self, environment: str, settings: Settings) -> Key:
        return sha(self.candidate), self.task.id, self.task.sha, environment, settings.sha


@dataclass(frozen=True)
class Broken:
    """A line that is no job, or a job that cannot be evaluated."""

    place: dict[str, Any]
    """`{"id": ...}`, or `{"line": ...}` where there is no id or another line has it."""
    error: str

    @property
    def record(self) -> dict[str, Any]:
        return self.place | {"error": self.error}


def read(path: Path, sandbox: str = "auto") -> Iterator[Job | Broken]:
    """The jobs of a file, line by line; empty lines are passed over. `sandbox`: the isolation level for tasks in files of the user's."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UserError(f"Cannot read the jobs {str(path)!r}: {error.strerror}. Give a file with a JSON object per line.") from None
    seen: dict[str | int, int] = {}
    with Tasks(sandbox) as tasks:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield _job(line, number, seen, tasks)


class Tasks(Finder):
    """Finds each task once."""

    def __init__(self, sandbox: str):
        super().__init__(sandbox)
        self.known: dict[str, Task | str] = {}

    def named(self, name: str, args: dict[str, Any]) -> Task | str:
        """The task, or the sentence that says why there is none."""
        key = json.dumps([name, args], sort_keys=True)
        if key not in self.known:
            try:
                self.known[key] = self.find(name, args)
            except UserError as error:
                self.known[key] = str(error)
        return self.known[key]


def _job(line: bytes, number: int, seen: dict[str | int, int], tasks: Tasks) -> Job | Broken:
    place: dict[str, Any] = {"line": number}
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        return Broken(place, f"line {number} is not JSON: {error}")
    if not isinstance(found, dict) or type(found.get("id")) not in (str, int):
        return Broken(place, f'line {number} is no job: it must be an object with "id" (text or a whole number), "task" and "candidate"')
    name = found["id"]
    if name in seen:
        return Broken(place, f"line {number} has the id {name!r} of line {seen[name]}")
    seen[name] = number
    for field_name in ("task", "candidate"):
        if not isinstance(found.get(field_name), str):
            return Broken({"id": name}, f'line {number} has no text as its "{field_name}"')
    args = found.get("task_args") or {}
    if not isinstance(args, dict):
        return Broken({"id": name}, f'line {number} has no object as its "task_args"')
    task = tasks.named(found["task"], args)
    return Broken({"id": name}, task) if isinstance(task, str) else Job(name, task, found["candidate"])


class Results:
    """The results' file, open for one process at a time. What it holds is known, and is not evaluated again."""

    def __init__(self, path: Path):
        try:
            self.lines = jsonl.Lines(path)
            fcntl.flock(self.lines.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Only now: a last line that another process is writing looks torn.
            loaded = jsonl.read(path)
        except BlockingIOError:
            raise UserError(f"Another process is writing {path}: wait for it, or choose another file.") from None
        except OSError as error:
            raise UserError(f"Cannot write the results {str(path)!r}: {error.strerror}. Choose another file.") from None
        self.torn = loaded.torn
        self.known: dict[Key, dict[str, Any]] = {}
        self.written: set[tuple[str | int, Key]] = set()
        self.errors: list[dict[str, Any]] = []
        for number, record in enumerate(loaded.records, 1):
            if not isinstance(record, dict) or ("evaluation" in record) == ("error" in record):
                raise UserError(f"{path} line {number} is no result of a job: choose another file for the results.")
            self._learn(record)
        if self.torn:
            os.ftruncate(self.lines.file, loaded.size)

    def add(self, record: dict[str, Any]) -> None:
        self.lines.write(jsonl.encode(record) + b"\n")
        self._learn(record)

    def _learn(self, record: dict[str, Any]) -> None:
        if "error" in record:
            self.errors.append(record)
            return
        found = record["evaluation"]
        if found["verdict"] not in AGAIN:
            key = tuple(found[name] for name in ("candidate_sha", "task_id", "task_sha", "environment_sha", "settings_sha"))
            self.known[key] = found
            self.written.add((record["id"], key))


@dataclass
class Batch:
    """Evaluates what is missing in `results`. Jobs that are alike are evaluated once, and each has its line."""

    results: Results
    settings: Settings
    environment: str = ""
    total: int = 0
    faults: int = 0
    """Evaluations that ended in an exception of our own."""
    done: int = 0
    broken: int = 0
    queue: deque[list[Job]] = field(default_factory=deque)

    async def run(self, jobs: list[Job | Broken], executor: LocalExecutor) -> None:
        self.total = len(jobs)
        self.environment = await executor.environment(self.settings)
        self._sort(jobs)
        workers = [asyncio.create_task(self._work(executor)) for _ in range(min(len(executor.workers), len(self.queue)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    def _sort(self, jobs: list[Job | Broken]) -> None:
        """Settles what needs no work, and queues the rest."""
        keys = {job.id: job.key(self.environment, self.settings) for job in jobs if isinstance(job, Job)}
        if known := self.results.written & set(keys.items()):
            self.done = len(known)
            say(f"{self.done} of {self.total} lines have their result already")
        alike: dict[Key, list[Job]] = {}
        for job in jobs:
            if isinstance(job, Broken):
                self._refuse(job)
            elif (job.id, key := keys[job.id]) in known:
                continue
            elif key in self.results.known:
                self._settle(job, self.results.known[key], " (as another job)")
            else:
                alike.setdefault(key, []).append(job)
        self.queue.extend(alike.values())

    async def _work(self, executor: LocalExecutor) -> None:
        while self.queue:
            alike = self.queue.popleft()
            try:
                found = await executor.evaluate(alike[0].candidate, alike[0].task, self.settings)
            except UserError as error:
                refused = str(error)
            except Exception:
                self.faults += 1
                refused = traceback.format_exc().strip()
            else:
                seconds = f" ({found.resources.get('wall_s', 0):.1f} s)"
                for job in alike:
                    self._settle(job, found.public(), seconds)
                continue
            for job in alike:
                self._refuse(Broken({"id": job.id}, refused))

    def _settle(self, job: Job, evaluation: dict[str, Any], note: str) -> None:
        self.results.add({"id": job.id, "evaluation": evaluation})
        self.done += 1
        say(f"{self.done}/{self.total} {job.id} {job.task.id}: {evaluation['verdict']}{note}")

    def _refuse(self, line: Broken) -> None:
        """An error that is in the file already is not written again."""
        self.done, self.broken = self.done + 1, self.broken + 1
        if line.record not in self.results.errors:
            self.results.add(line.record)
        say(f"{self.done}/{self.total} {line.place.get('id', 'no job')}: {line.error}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def run(jobs: Path, out: Path, settings: Settings, workers: int | None = None) -> int:
    """Exit code: 0 when every line has its result, be it an error; 1 after a fault of our own; 130 when interrupted."""
    todo = list(read(jobs, settings.sandbox))
    batch = Batch(Results(out), settings)
    if batch.results.torn:
        say(f"{out}: dropped a torn last line ({batch.results.torn} bytes); what it told is evaluated again")
    executor = LocalExecutor(workers)
    loop, course = asyncio.get_running_loop(), asyncio.create_task(batch.run(todo, executor))
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, course.cancel)
    try:
        await course
    except asyncio.CancelledError:
        say(f"Interrupted with {batch.done} of {batch.total} lines done; the same command goes on from here.")
        return 130
    finally:
        await executor.close()
        batch.results.lines.close()
    say(f"{batch.done} of {batch.total} lines done, {batch.broken} of them with an error; results in {out}")
    return 1 if batch.faults else 0
