"""A second account of a call's operators, by torch's profiler: below Python, in every thread, whatever modes are off the stack.

The record's own mode runs what it is shown in ranges of a name that nobody else knows. An operator whose event neither lies in such a
range nor holds one has run out of its sight; another mode's work shows nothing.
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

END = " end"
"""A last event, which is missing if someone else has ended the profiler."""
ROWS = 64
COMPILED, UNKNOWN = ("Torch-Compiled Region", "## Call CompiledFxGraph"), 1 << 32
"""Ranges of what `torch.compile` has made, whose kernels are no operators and nobody's but torch's, and how much they may compute."""
OTHERS = {
    name.partition(".")[0]
    for name in torch._C._dispatch_get_all_op_names()
    if not name.startswith(("aten::", "prim::", "prims::", "profiler::"))
}
"""Operators of torch's other libraries; a candidate's own come later, and what they do inside is what counts."""
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
    holds: bool = False
    """With a range of what is shown within."""
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
def accounted(shown: str) -> Iterator[Unseen]:
    """Watches what runs inside; afterwards the result says which operators ran outside of ranges of the name `shown`."""
    unseen = Unseen()
    config = ProfilerConfig(ProfilerState.KINETO, True, False, False, False, False, _ExperimentalConfig(profile_all_threads=True))
    _prepare_profiler(config, _ACTIVITIES)
    _enable_profiler(config, _ACTIVITIES)
    try:
        yield unseen
    finally:
        with record_function(shown + END):
            pass
        events: list[Event] = []
        # Some versions complain of a profiler that is not on, others return nothing.
        with suppress(RuntimeError):
            events = [_event(event) for event in _disable_profiler().events()]
        unseen.broken = all(event.name != shown + END for event in events)
        unseen.rows = _missing(events, shown)


def warm() -> None:
    """In each sandbox, before the candidate comes: what the profiler does at its first use. It makes a thread, so not before a fork."""
    with accounted("") as unseen:
        torch.empty(1)
    if unseen.broken:
        raise RuntimeError("torch's profiler does not record here")


def _event(event: Any) -> Event:
    return Event(event.name().removeprefix("aten::"), event.shapes(), event.start_thread_id(), event.start_ns(), event.end_ns())


def _missing(events: list[Event], shown: str) -> list[list[Any]]:
    _nest(events, shown)
    calls: Counter[str] = Counter()
    largest: dict[str, int] = {}
    for event in events:
        if not event.holds and not event.under(shown) and (event.name.startswith(COMPILED) or _operator(event.name)):
            calls[event.name] += 1
            largest[event.name] = max(largest.get(event.name, 0), UNKNOWN if event.name.startswith(COMPILED) else event.largest)
    # The largest ones come first: many small ones push none of them out.
    names = sorted(calls, key=lambda name: -calls[name] * largest[name])
    return [[name, calls[name], largest[name]] for name in names[:ROWS]]


def _nest(events: list[Event], shown: str) -> None:
    events.sort(key=lambda e: (e.thread, e.start, -e.end))
    open_: list[Event] = []
    for event in events:
        while open_ and (open_[-1].thread != event.thread or open_[-1].end < event.end):
            open_.pop()
        event.parent = open_[-1] if open_ else None
        if event.name == shown:
            for outer in open_:
                outer.holds = True
        open_.append(event)


def _operator(name: str) -> bool:
    """Whether it computes by itself: no range, nor made of other operators, which have events of their own."""
    return name in OTHERS or not _composite(name)


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
