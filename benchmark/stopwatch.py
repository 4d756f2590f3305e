"""How long a call takes on the machine at hand: for plots, plausibility and bounds.

Never for a claim of speed: those are the executor's, whose clock is another one.
"""

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import torch

FLUSH = 256 << 20
"""Bytes overwritten between calls, so that none finds its inputs in a device's cache."""


def milliseconds(call: Callable[[], Any], device: str, calls: int = 20, budget_s: float = 1.0) -> float:
    """Median over some calls, within a budget, after two that are not counted (one, where that takes all of the budget).

    On a device by its events, with its cache overwritten."""
    begun = time.monotonic()
    call()
    if time.monotonic() < begun + budget_s:
        call()
    one = _on_cpu if torch.device(device).type == "cpu" else _on_device
    return median(_within(one(call, device), calls, budget_s))


def _within(times: Iterator[float], calls: int, budget_s: float) -> list[float]:
    end, taken = time.monotonic() + budget_s, [next(times)]
    while len(taken) < calls and time.monotonic() < end:
        taken.append(next(times))
    return taken


def _on_cpu(call: Callable[[], Any], device: str) -> Iterator[float]:
    while True:
        start = time.perf_counter()
        call()
        yield (time.perf_counter() - start) * 1e3


def _on_device(call: Callable[[], Any], device: str) -> Iterator[float]:
    flush = torch.empty(FLUSH, dtype=torch.int8, device=device)
    while True:
        flush.zero_()
        before, after = (torch.Event(device, enable_timing=True) for _ in range(2))
        before.record()
        call()
        after.record()
        after.synchronize()
        yield before.elapsed_time(after)
