"""Timing one function on a real device: the same loop on both sides, in the judge for the baseline, in the sandbox for the candidate."""

import contextlib
import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from tools.executor.arguments import nbytes, tensors_in
from tools.executor.channel import Message
from tools.executor.unwritten import Poison
from tools.executor.wire import Region

RESOLUTION = "device events (resolution about 0.5 us)"
PLACES = 32
"""At most so many copies of the arguments are called on in turn."""


@dataclass
class Block:
    """What consecutive calls took, in microseconds: each on the device, and at the median on the host, which only enqueues them."""

    us: list[float]
    host_us: float
    """The function's own share: its wrapper and its launches."""
    loop_us: float
    """With the copies and the flush."""
    result_bytes: int = 0
    """What the results of one call hold in memory."""


@dataclass
class Place:
    """One copy of the arguments in memory of its own: the call on them, and the tensors whose values are exchanged."""

    call: Callable[[], Any]
    buffers: list[torch.Tensor]


def bringing(region: Region, sent: Message) -> Callable[[Place], None]:
    """Puts the values of one call, which lie in shared memory, into a place."""
    nodes = [*sent["args"], *sent["kwargs"].values()]

    def bring(place: Place) -> None:
        free = iter(place.buffers)
        for node in nodes:
            region.read(node, lambda flat: next(free).copy_(flat))

    return bring


@dataclass
class Kept:
    """The result of a timed call; `after` holds the buffers as the call left them, where they are results."""

    place: Place
    result: Any
    after: list[torch.Tensor]


class Bench:
    """Calls a function on fresh values: before each call one of several input sets is copied into the buffers it is called on,
    and the L2 cache is overwritten, both outside of the measured span. Places take turns, so that lines which a call has
    pinned in the cache are not those that the next calls need.

    Every result of the last cold block is kept: which one is looked at is chosen when the block is over.
    """

    def __init__(self, places: list[Place], flush_bytes: int, mutates: bool):
        self.places = places
        self.mutates = mutates
        self.sets = [[buffer.clone() for buffer in places[0].buffers]]
        self.device = torch.accelerator.current_accelerator()
        self.scratch = torch.empty(flush_bytes, dtype=torch.int8, device=self.device)
        self.kept: list[Kept] = []
        self.calls = 0
        self.events: list[tuple[torch.Event, torch.Event]] = []
        """Made once: to make and to drop them takes the host longer than a launch."""
        self.flush_us = min(self._span(self.scratch.zero_) for _ in range(4))

    def block(self, order: Sequence[int], stall: int, warm: bool = False) -> Block:
        """A call for each input set in `order`. With `warm` all are on one place and one set, one after another, with the cache as
        the last call left it, and nothing is kept.

        The device is kept busy with `stall` flushes first: if the host can enqueue all calls meanwhile, none waits for the host.
        """
        self.kept = []
        spans: list[tuple[torch.Event, torch.Event]] = []
        host, loop = [], []
        with _no_collection():
            for _ in range(stall):
                self.scratch.zero_()
            for values in order:
                begun = time.perf_counter()
                if not warm or not spans:
                    place = self._fresh(values)
                start, end = self._events(len(spans))
                start.record()
                called = time.perf_counter()
                result = place.call()
                host.append(time.perf_counter() - called)
                end.record()
                if not warm:
                    self._keep(place, result)
                del result
                spans.append((start, end))
                loop.append(time.perf_counter() - begun)
            torch.accelerator.synchronize()
        us = [round(start.elapsed_time(end) * 1000, 3) for start, end in spans]
        return Block(us, statistics.median(host) * 1e6, statistics.median(loop) * 1e6, self._result_bytes())

    def sealed(self, bring: Sequence[Callable[[Place], None]], take: Callable[[Place, Any], Any], stall: int) -> tuple[Block, list[Any]]:
        """A call for each of `bring`, which puts values that were never seen into a place; `take` carries each result off. All of it
        is done when this returns.
        """
        self.kept = []
        spans: list[tuple[torch.Event, torch.Event]] = []
        loop, taken = [], []
        with _no_collection():
            for _ in range(stall):
                self.scratch.zero_()
            for brought in bring:
                begun = time.perf_counter()
                place = self._next()
                brought(place)
                self.scratch.zero_()
                start, end = self._events(len(spans))
                start.record()
                result = place.call()
                end.record()
                taken.append(take(place, result))
                spans.append((start, end))
                loop.append(time.perf_counter() - begun)
            torch.accelerator.synchronize()
        us = [round(start.elapsed_time(end) * 1000, 3) for start, end in spans]
        return Block(us, 0.0, statistics.median(loop) * 1e6), taken

    def clear(self) -> None:
        """Forgets the results, and spoils their memory, so that a later call which leaves holes shows no earlier answer in them."""
        own = {_home(buffer) for place in self.places for buffer in place.buffers}
        for kept in self.kept:
            for tensor in tensors_in(kept.result):
                if _home(tensor) not in own:
                    _spoil(tensor)
        self.kept = []
        torch.accelerator.synchronize()

    def _fresh(self, values: int) -> Place:
        """The next place, with the values of an input set and a cache that holds neither."""
        place = self._next()
        for buffer, value in zip(place.buffers, self.sets[values], strict=True):
            buffer.copy_(value)
        self.scratch.zero_()
        return place

    def _next(self) -> Place:
        place = self.places[self.calls % len(self.places)]
        self.calls += 1
        return place

    def _keep(self, place: Place, result: Any) -> None:
        after = [buffer.clone() for buffer in place.buffers] if self.mutates else []
        self.kept.append(Kept(place, result, after))

    def _result_bytes(self) -> int:
        if not self.kept:
            return 0
        last = self.kept[-1]
        return nbytes((*tensors_in(last.result), *last.after))

    def _span(self, action: Callable[[], Any]) -> float:
        start, end = self._events(0)
        start.record()
        action()
        end.record()
        torch.accelerator.synchronize()
        return float(start.elapsed_time(end) * 1000)

    def _events(self, number: int) -> tuple[torch.Event, torch.Event]:
        """Start and end of a call of a block."""
        while len(self.events) <= number:
            self.events.append((torch.Event(self.device, enable_timing=True), torch.Event(self.device, enable_timing=True)))
        return self.events[number]


def _home(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _spoil(tensor: torch.Tensor) -> None:
    # What has no fill, or overlaps itself, stays as it is.
    with torch.inference_mode(), contextlib.suppress(RuntimeError):
        Poison().fill(tensor)


def places_for(buffers: Sequence[torch.Tensor], flush_bytes: int) -> int:
    """How many copies of the buffers are larger together than what the flush overwrites, within limits."""
    size = nbytes(buffers)
    return max(1, min(PLACES, math.ceil(flush_bytes / size))) if size else 1


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """The garbage collector may take longer than the calls that it interrupts."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def settled(times: Sequence[float]) -> float:
    """Median of times; not a number for what is no time."""
    ordered = sorted(times)
    if not ordered or not all(math.isfinite(t) and t > 0 for t in ordered):
        return math.nan
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
