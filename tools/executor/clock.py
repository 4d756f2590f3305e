"""Timing one function on a real device: the same loop on both sides, in the judge for the baseline, in the sandbox for the candidate."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

Kept = tuple[Any, list[torch.Tensor]]


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

    def block(self, order: Sequence[int], keep: Sequence[int] = ()) -> list[float]:
        """Microseconds of each call; `order` names the input set of each. The results of the calls in `keep` stay for `kept`."""
        spans = []
        self.kept = {}
        for number, values in enumerate(order):
            for buffer, value in zip(self.buffers, self.sets[values], strict=True):
                buffer.copy_(value)
            self.scratch.zero_()
            start, end = (torch.Event(self.device, enable_timing=True) for _ in range(2))
            start.record()
            result = self.call()
            end.record()
            if number in keep:
                self.kept[number] = (result, [buffer.clone() for buffer in self.buffers])
            del result
            spans.append((start, end))
        torch.accelerator.synchronize()
        return [start.elapsed_time(end) * 1000 for start, end in spans]


def settled(times: Sequence[float]) -> float:
    """Median of times; not a number for what is no time."""
    ordered = sorted(times)
    if not ordered or not all(math.isfinite(t) and t > 0 for t in ordered):
        return math.nan
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
