"""A second account of a call's operators, by torch's profiler: below Python, in every thread, whatever modes are off the stack.

A dispatch mode at work is an event of its own there, inside the event of the operator that it is shown. An operator whose event
neither lies in such an event nor holds one has run out of the mode's sight.
"""

import functools
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._C._profiler import _ExperimentalConfig
from torch.autograd import ProfilerActivity, ProfilerConfig, ProfilerState, _disable_profiler, _enable_profiler, _prepare_profiler
from torch.autograd.profiler import record_function

MODE = "PythonDispatchMode"
END = " end"
"""A last event, which is missing if someone else has ended the profiler."""
ROWS = 64
_ACTIVITIES = {ProfilerActivity.CPU}
# Else it tells of its starts and ends on standard error.
os.environ["KINETO_LOG_LEVEL"] = "99"


@dataclass
class Event:
    name: str
    sizes: list[Any]
    thread: int
    start: int
    end: int
    inside: bool = False
    """Within a mode at work."""
    holds: bool = False
    """With a mode at work within."""
    parent: "Event | None" = None

    def under(self, name: str) -> bool:
        return self.name == name or (self.parent is not None and self.parent.under(name))

    @property
    def largest(self) -> int:
        """Elements of the largest tensor given."""
        return max(_numels(self.sizes), default=0)


@dataclass
class Unseen:
    """Operators that the profiler saw and the mode did not: `[name, calls, largest]`."""

    rows: list[list[Any]] = field(default_factory=list)
    broken: bool = False
    """Whether someone else has ended the profiler."""


@contextmanager
def accounted(seen: "Counter[str]", exempt: str) -> Iterator[Unseen]:
    """Watches what runs inside; afterwards the result says which operators `seen`, the mode's own count by name, leaves out.
    What runs in ranges of the name `exempt` does not count; what runs in those of `opened(exempt)` no mode has seen.
    """
    unseen = Unseen()
    config = ProfilerConfig(ProfilerState.KINETO, True, False, False, False, False, _ExperimentalConfig(profile_all_threads=True))
    _prepare_profiler(config, _ACTIVITIES)
    _enable_profiler(config, _ACTIVITIES)
    try:
        yield unseen
    finally:
        with record_function(exempt + END):
            pass
        events: list[Event] = []
        # Some versions complain of a profiler that is not on, others return nothing.
        with suppress(RuntimeError):
            events = [_event(event) for event in _disable_profiler().events()]
        unseen.broken = all(event.name != exempt + END for event in events)
        unseen.rows = _missing(events, seen, exempt)


def opened(exempt: str) -> str:
    """Name of the range around an operator of the candidate's own: what it does inside, no mode is shown."""
    return exempt + " opened"


def warm() -> None:
    """In each sandbox, before the candidate comes: what the profiler does at its first use. It makes a thread, so not before a fork."""
    with accounted(Counter(), "") as unseen:
        torch.empty(1)
    if unseen.broken:
        raise RuntimeError("torch's profiler does not record here")


def _event(event: Any) -> Event:
    return Event(event.name().removeprefix("aten::"), event.shapes(), event.start_thread_id(), event.start_ns(), event.end_ns())


def _missing(events: list[Event], seen: "Counter[str]", exempt: str) -> list[list[Any]]:
    _nest(events)
    events = [event for event in events if not event.under(exempt)]
    shown = [e.parent for e in events if e.name == MODE and not e.holds and e.parent]
    # Those of other libraries are taken apart.
    missing = Counter(e.name for e in shown if "::" not in e.name)
    missing.subtract(seen)
    unshown = [e for e in events if not e.holds and (not e.inside or e.under(opened(exempt)))]
    missing.update(e.name for e in unshown if e.name != MODE and not _composite(e.name))
    largest: dict[str, int] = {}
    for event in events:
        largest[event.name] = max(largest.get(event.name, 0), event.largest)
    return [[name, count, largest.get(name, 0)] for name, count in missing.most_common(ROWS) if count > 0]


def _nest(events: list[Event]) -> None:
    events.sort(key=lambda e: (e.thread, e.start, -e.end))
    open_: list[Event] = []
    for event in events:
        while open_ and (open_[-1].thread != event.thread or open_[-1].end < event.end):
            open_.pop()
        event.parent = open_[-1] if open_ else None
        event.inside = any(outer.name == MODE for outer in open_)
        if event.name == MODE:
            for outer in open_:
                outer.holds = True
        open_.append(event)


@functools.cache
def _composite(name: str) -> bool:
    """Whether it is made of other operators, which have events of their own; so is what is no operator at all."""
    packet = getattr(torch.ops.aten, name, None)
    if packet is None:
        return True
    names = [getattr(packet, overload)._name for overload in packet.overloads()]
    known = [name for name in names if torch._C._dispatch_has_kernel(name)]
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd") for name in known)


def _numels(sizes: Iterable[Any]) -> Iterator[int]:
    sizes = list(sizes)
    if sizes and all(isinstance(size, int) for size in sizes):
        count = 1
        for size in sizes:
            count *= size
        yield count
    for size in sizes:
        if isinstance(size, list | tuple):
            yield from _numels(size)
