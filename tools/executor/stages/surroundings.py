"""What a timing was done in: the GPU's clocks and its other users, and how busy the host was; looked at before, between and after sizes."""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from tools.executor.channel import Message
from tools.platforms.clocks import USUAL

PRESSURE = Path("/proc/pressure/cpu")


class Surroundings:
    """`sample()` asks the judge for the GPU's state, `stalled()` is as below. `samples` are for the record, `notes` say what weakens the
    times."""

    def __init__(
        self,
        sample: Callable[[], Message],
        own: Callable[[int], bool | None] | None = None,
        stalled: Callable[[], float | None] | None = None,
    ):
        self.sample = sample
        self.own = own or descends
        self.stalled = stalled or waited
        self.begun = self.looked = time.monotonic()
        self.before = self.stalled()
        self.samples: list[Message] = []
        self.notes: list[str] = []

    def look(self, at: str) -> None:
        """`at` is `before`, or the size that was timed last."""
        found = self.sample()
        others = [pid for pid in found.pop("processes") or () if self.own(pid) is False]
        now, busy = time.monotonic(), self.busy()
        self.samples.append({"at": at, "s": round(now - self.begun, 3), **found, "other_processes": others, "host_busy": busy})
        self.looked, self.before = now, self.stalled()
        slowing = sorted(set(found["throttle"] or ()) - USUAL)
        if slowing:
            self._note(f"{at}: the GPU's clocks were held down ({', '.join(slowing)})")
        if others:
            self._note(f"{len(others)} other processes had the GPU open")

    def busy(self) -> float | None:
        """Share of the time since the last look in which something waited for a processor; None where nobody says."""
        now = self.stalled()
        if now is None or self.before is None:
            return None
        return round(min(1.0, (now - self.before) / max(time.monotonic() - self.looked, 1e-9)), 3)

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def waited() -> float | None:
    """Seconds since the machine's start in which a task that could run waited for a processor (Linux's pressure stall information)."""
    try:
        found = re.search(r"^some .*total=(\d+)", PRESSURE.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) / 1e6 if found else None


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
