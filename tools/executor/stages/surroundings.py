"""What a timing was done in: the GPU's clocks and its other users, looked at before, between and after sizes."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from tools.executor.channel import Message
from tools.platforms.clocks import USUAL


class Surroundings:
    """`sample()` asks the judge for the GPU's state. `samples` are for the record, `notes` say what weakens the times."""

    def __init__(self, sample: Callable[[], Message], own: Callable[[int], bool | None] | None = None):
        self.sample = sample
        self.own = own or descends
        self.begun = time.monotonic()
        self.samples: list[Message] = []
        self.notes: list[str] = []

    def look(self, at: str) -> None:
        """`at` is `before`, or the size that was timed last."""
        found = self.sample()
        others = [pid for pid in found.pop("processes") or () if self.own(pid) is False]
        self.samples.append({"at": at, "s": round(time.monotonic() - self.begun, 3), **found, "other_processes": others})
        slowing = sorted(set(found["throttle"] or ()) - USUAL)
        if slowing:
            self._note(f"{at}: the GPU's clocks were held down ({', '.join(slowing)})")
        if others:
            self._note(f"{len(others)} other processes had the GPU open")

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def descends(pid: int) -> bool | None:
    """Whether a process is one of ours; None where it cannot be seen from here, as from within a container."""
    ours = os.getpid()
    while pid > 1:
        if pid == ours:
            return True
        try:
            # The name before it may hold spaces and parentheses.
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            return None
    return False
