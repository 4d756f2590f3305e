"""Timing one function on a real device: the same loop on both sides, in the judge for the baseline, in the sandbox for the candidate."""

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

Kept = tuple[Any, list[torch.Tensor]]


@dataclass
class Block:
    """What consecutive calls took, in microseconds: each on the device, and at the median on the host, which only enqueues them."""

    us: list[float]
    host_us: float
    """The function's own share: its wrapper and its launches."""
    loop_us: float
    """With the copies and the flush."""


class Bench:
    """Calls a function on fresh values: before each call one of several input sets is copied into the buffers it is called on,
    and the L2 cache is overwritten, both outside of the measured span.
    """

    def __init__(self, call: Callable[[], Any], buffers: list[torch.Tensor], sets: list[list[torch.Tensor]], flush_bytes: int):
        self.call = call
        self.buffers = buffers
        self.sets = sets
        self.device = torch.accelerator.current_accelerator()
        self.scratch = torch.empty(flush_bytes, dtype=torch.int8, device=self.device)
        self.kept: dict[int, Kept] = {}
        self.scratch.zero_()
        self.flush_us = self._span(self.scratch.zero_)

    def block(self, order: Sequence[int], keep: Sequence[int] = (), stall_us: float = 0.0) -> Block:
        """Times a call for each input set in `order`. The results of the calls in `keep` stay for `kept`.

        The device is kept busy for `stall_us` first: if the host can enqueue all calls meanwhile, none of them waits for the host.
        """
        spans, host, loop = [], [], []
        self.kept = {}
        for _ in range(math.ceil(stall_us / self.flush_us)):
            self.scratch.zero_()
        for number, values in enumerate(order):
            begun = time.perf_counter()
            for buffer, value in zip(self.buffers, self.sets[values], strict=True):
                buffer.copy_(value)
            self.scratch.zero_()
            start, end = self._events()
            start.record()
            called = time.perf_counter()
            result = self.call()
            host.append(time.perf_counter() - called)
            end.record()
            if number in keep:
                self.kept[number] = (result, [buffer.clone() for buffer in self.buffers])
            del result
            spans.append((start, end))
            loop.append(time.perf_counter() - begun)
        torch.accelerator.synchronize()
        us = [start.elapsed_time(end) * 1000 for start, end in spans]
        return Block(us, statistics.median(host) * 1e6, statistics.median(loop) * 1e6)

    def _span(self, action: Callable[[], Any]) -> float:
        start, end = self._events()
        start.record()
        action()
        end.record()
        torch.accelerator.synchronize()
        return float(start.elapsed_time(end) * 1000)

    def _events(self) -> tuple[torch.Event, torch.Event]:
        return torch.Event(self.device, enable_timing=True), torch.Event(self.device, enable_timing=True)


def settled(times: Sequence[float]) -> float:
    """Median of times; not a number for what is no time."""
    ordered = sorted(times)
    if not ordered or not all(math.isfinite(t) and t > 0 for t in ordered):
        return math.nan
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
