"""The disk, without the event loop waiting for it: threads write texts and lines, and a line comes after the texts that it names."""

import asyncio
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from tools import jsonl

WIDTH = 8
"""Texts that are on their way side by side."""


@dataclass(eq=False)
class Entry:
    """A line that was handed in, and the texts that it names and that were not on disk then."""

    file: jsonl.Lines
    line: bytes
    texts: list["Future[None]"]
    done: "Future[None]" = field(default_factory=Future)


class Disk:
    """What is handed in is written, whether somebody waits for it or not. Lines keep their order; those that wait together share a sync."""

    def __init__(self) -> None:
        self.shelf = ThreadPoolExecutor(WIDTH, "texts")
        self.desk = ThreadPoolExecutor(1, "lines")
        self.queue: deque[Entry] = deque()
        self.unsaved: dict[Path, tuple[bytes, Future[None]]] = {}
        """Texts on their way, and those that could not be written."""

    def put(self, path: Path, data: bytes) -> "Future[None] | None":
        """Writes a text whose name tells its content; None where it is there already, or on its way."""
        if path in self.unsaved or path.exists():
            return None
        done = self.shelf.submit(jsonl.put, path, data)
        self.unsaved[path] = data, done
        done.add_done_callback(lambda done: None if done.exception() else self.unsaved.pop(path, None))
        return done

    @property
    def under_way(self) -> list["Future[None]"]:
        """Texts that are not on disk yet."""
        return [done for _, done in self.unsaved.copy().values()]

    def read(self, path: Path) -> bytes:
        held = self.unsaved.get(path)
        return held[0] if held else path.read_bytes()

    def append(self, file: jsonl.Lines, record: dict[str, Any], texts: Iterable[Path] = ()) -> "Future[None]":
        """Writes a line, unless one of the texts that it names could not be written."""
        held = [found[1] for path in texts if (found := self.unsaved.get(path))]
        entry = Entry(file, jsonl.encode({"schema_version": jsonl.SCHEMA_VERSION, **record}) + b"\n", held)
        self.queue.append(entry)
        self.desk.submit(self.commit)
        return entry.done

    def replace(self, path: Path, data: bytes) -> "Future[None]":
        """Writes a file that has other content from time to time: the last one handed in stands."""
        return self.desk.submit(jsonl.put, path, data)

    def close(self) -> None:
        """Returns when all is written."""
        self.shelf.shutdown()
        self.desk.shutdown()

    def commit(self) -> None:
        """Writes the lines that are ready, those of one file at once."""
        ready = sorted(self.ready(), key=lambda entry: entry.file.path)
        for _, group in groupby(ready, key=lambda entry: entry.file.path):
            entries = list(group)
            try:
                entries[0].file.write(b"".join(entry.line for entry in entries))
            except BaseException as error:
                for entry in entries:
                    entry.done.set_exception(error)
            else:
                for entry in entries:
                    entry.done.set_result(None)

    def ready(self) -> list[Entry]:
        """The first line of the queue, when its texts are on disk, and those behind it that need not wait for theirs."""
        ready: list[Entry] = []
        while self.queue and not (ready and any(not text.done() for text in self.queue[0].texts)):
            entry = self.queue.popleft()
            fault = next((error for text in entry.texts if (error := text.exception())), None)
            if fault is None:
                ready.append(entry)
            else:
                entry.done.set_exception(fault)
        return ready


async def landed(*written: "Future[None]") -> None:
    """Waits, and leaves what it waits for alone when it is cancelled."""
    for done in written:
        await asyncio.shield(asyncio.wrap_future(done))
