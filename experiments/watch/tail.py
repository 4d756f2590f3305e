"""A run's files as they grow: whole lines only, a part at a time."""

import fcntl
import json
import os
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.errors import UserError

PART = 4_000_000
"""Bytes of a file that are read at once, so that whoever reads can do something else between."""
NAMED = re.compile(rb'"event": "(\w+)", "timestamp": "([^"]*)", "level": "\w+"\}$')
"""The end of a line of the log: a quote within a string of JSON would have a backslash before it."""
SHOWN = 500
"""Lines of the log that are kept to be shown."""
FOLLOWED = frozenset({"start", "trajectory_start", "node", "ask", "judge", "budget"})
"""Events that no other file tells of."""
IDENTITY = b'"identity": '
Record = dict[str, Any]


@dataclass
class Tail:
    """`offset` is where the first line begins that was not read yet. What is after the last line break waits for its rest."""

    path: Path
    offset: int = 0
    skipped: int = 0
    """Lines that are no JSON, with others after them."""

    def read(self, limit: int = PART) -> Iterator[tuple[int, bytes]]:
        """Whole lines that follow, each with its place, about `limit` bytes of them or one line, if that is longer."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            data = file.read(limit)
            while len(data) >= limit and b"\n" not in data[-limit:] and (more := file.read(limit)):
                data += more
        for line in data.split(b"\n")[:-1]:
            place, self.offset = self.offset, self.offset + len(line) + 1
            yield place, line

    def records(self, limit: int = PART) -> list[Record]:
        """The same, decoded. A last line that is no JSON was cut by a kill: it waits, as the run that goes on takes it back."""
        found: list[Record] = []
        bad = end = -1
        for place, line in self.read(limit):
            try:
                found.append(json.loads(line))
            except ValueError:
                self.skipped, bad, end = self.skipped + 1, place, self.offset
        if bad >= 0 and end == self.offset:
            self.offset, self.skipped = bad, self.skipped - 1
        return found


@dataclass
class Batch:
    """What was new since the last look; `more` where there is still more to read at once."""

    attempts: list[Record] = field(default_factory=list)
    calls: list[Record] = field(default_factory=list)
    trajectories: list[Record] = field(default_factory=list)
    events: list[Record] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    """The log's lines, the last ones where there were many."""
    last: str = ""
    """When the last event was, as the log tells it."""
    running: bool = False
    more: bool = False


class Reader:
    """Reads only. Evaluations, by far the largest records, are noted by place and decoded when they are asked for."""

    def __init__(self, path: Path):
        self.path = path
        self.tails = {name: Tail(path / f"{name}.jsonl") for name in ("attempts", "calls", "trajectories", "log", "evaluations")}
        self.places: dict[tuple[str, str], tuple[int, int]] = {}
        """By trajectory and attempt, where the evaluation lies and how long its line is."""

    def poll(self, limit: int = PART) -> Batch:
        """Raises UserError when the run is no longer there."""
        batch = Batch(running=holder(self.path) is not None)
        before = {name: tail.offset for name, tail in self.tails.items()}
        try:
            batch.attempts = self.tails["attempts"].records(limit)
            batch.calls = self.tails["calls"].records(limit)
            batch.trajectories = self.tails["trajectories"].records(limit)
            self.log(batch, limit)
            self.note(limit)
            batch.more = any(before[name] < tail.offset < tail.path.stat().st_size for name, tail in self.tails.items())
        except FileNotFoundError as error:
            if not (self.path / "config.yaml").exists():
                raise UserError(f"Run {self.path} was removed while it was being watched.") from error
        return batch

    def log(self, batch: Batch, limit: int) -> None:
        for _, line in self.tails["log"].read(limit):
            batch.lines.append(line)
            if named := NAMED.search(line, max(0, len(line) - 200)):
                batch.last = named[2].decode()
                if named[1].decode() in FOLLOWED:
                    batch.events.append(json.loads(line))
        del batch.lines[:-SHOWN]

    def note(self, limit: int) -> None:
        for place, line in self.tails["evaluations"].read(limit):
            with suppress(ValueError):
                begin = line.index(IDENTITY) + len(IDENTITY)
                identity = json.loads(line[begin : line.index(b"}", begin) + 1])
                head = json.loads(line[: line.index(b', "identity"')] + b"}")
                self.places[identity["trajectory"], head["attempt"]] = (place, len(line))

    def evaluation(self, trajectory: str, attempt: str) -> Record | None:
        if (trajectory, attempt) not in self.places:
            return None
        place, size = self.places[trajectory, attempt]
        with self.tails["evaluations"].path.open("rb") as file:
            file.seek(place)
            return dict(json.loads(file.read(size))["evaluation"])


def holder(path: Path) -> int | None:
    """The process that writes the run, if one does. Asks for the lock's owner only: to take it, even briefly, could stop a start."""
    try:
        file = os.open(path / ".lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        asked = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack("hhqqi", fcntl.fcntl(file, fcntl.F_GETLK, asked))
    finally:
        os.close(file)
    return None if kind == fcntl.F_UNLCK else pid
