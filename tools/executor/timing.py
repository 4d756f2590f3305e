"""Measured speed (device mode): candidate and eager baseline in turns A B B A under a lock per GPU, told apart by two clocks.

The sandbox's device times are a claim. The broker's own clock around blocks of n and 2n calls gives a slope; what the slope
holds beyond a call (copies, flush) is known from the baseline, whose times are trusted.
"""

import contextlib
import fcntl
import math
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from tools.evaluation import TimedSize, Timing
from tools.executor.channel import Malformed, Message, readable
from tools.executor.clock import Block, settled
from tools.executor.remote import Cancelled
from tools.executor.worker import Worker

SETS = 3
"""Input sets that are rotated."""
PAIRS = 12
"""Blocks of each side per size."""
FEWEST = 8
"""As many where the time is up."""
BLOCK_US = 10_000.0
"""Aimed length of a short block."""
CALLS = (4, 20)
"""Fewest and most calls in a short block; a long one has twice as many."""
STALL = 1.5
"""The device is kept busy so many times as long as the host needs to enqueue a long block."""
STALL_US = 60_000.0
"""At most."""
RESAMPLES = 2000
FLUSH_BYTES = 256 << 20
"""At least so much is overwritten before each call."""
SLACK_US = 100.0
"""By how much the slope may exceed the claim without a second look: the wrapper's own time on the host."""
CHECKED = 3
"""Blocks of which one output is checked."""
METHOD = (
    f"device events, calls enqueued ahead so that none waits for the host, {PAIRS} block pairs in A B B A order, "
    f"{SETS} input sets in turn, L2 overwritten, median of log ratios"
)

Side = Callable[[Message], Message]
"""Asks the judge or the sandbox."""


@dataclass
class Blocks:
    """What one side's blocks took: device and host microseconds per call as claimed, wall seconds by number of calls."""

    us: list[float] = field(default_factory=list)
    host_us: list[float] = field(default_factory=list)
    wall: dict[int, list[float]] = field(default_factory=dict)

    def slope_us(self) -> float:
        """Wall microseconds per call, free of what a request costs."""
        (few, short), (many, long) = sorted((calls, statistics.median(walls)) for calls, walls in self.wall.items())
        return (long - short) / (many - few) * 1e6


@contextlib.contextmanager
def gpu_lock(index: int, worker: Worker, shared: bool = False) -> Iterator[None]:
    """One timing at a time on a GPU and nothing `shared` beside it, over all processes of this user.

    Who waits for the GPU holds its gate, so that a timing is not kept waiting by calls that came after it.
    """
    stem = f"{tempfile.gettempdir()}/kernelwright-{os.getuid()}-gpu{index}"
    with open(f"{stem}.lock", "w") as gpu:
        with open(f"{stem}.gate", "w") as gate:
            _flock(gate, fcntl.LOCK_EX, worker)
            _flock(gpu, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, worker)
        yield


def _flock(file: IO[str], kind: int, worker: Worker) -> None:
    while True:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if readable([worker.cancelled], 0.01):
                raise Cancelled from None


@dataclass
class Timed(Block):
    """A block as a side reports it, with the input sets that it was asked for."""

    order: list[int]


class Contest:
    """Times one size. `check(kept, values)` has the judge look at a kept output of the candidate."""

    def __init__(self, judge: Side, sandbox: Side, check: Callable[[int, int], None], rng: random.Random):
        self.sides = {"baseline": judge, "candidate": sandbox}
        self.check = check
        self.rng = rng
        self.blocks = {name: Blocks() for name in self.sides}
        self.stall_us = 0.0

    def run(self, case: str, deadline: float) -> TimedSize:
        calls = self._calls()
        self.checked = self.rng.sample(range(FEWEST), CHECKED)
        for pair in range(PAIRS):
            count = calls if pair % 4 < 2 else 2 * calls
            order = ("baseline", "candidate") if pair % 2 == 0 else ("candidate", "baseline")
            for name in order:
                self._block(name, count, name == "candidate" and pair in self.checked)
            if pair + 1 >= FEWEST and time.monotonic() > deadline:
                break
        return self._result(case)

    def _calls(self) -> int:
        """Calls per short block, from a warm-up that also compiles and tunes."""
        longest = loop = 0.0
        for name in self.sides:
            self._time(name, 3, [])
            warm = self._time(name, 5, [])
            longest, loop = max(longest, settled(warm.us)), max(loop, warm.loop_us)
        calls = CALLS[0] if math.isnan(longest) else max(CALLS[0], min(CALLS[1], int(BLOCK_US / max(longest, 1.0))))
        self.stall_us = min(STALL * 2 * calls * loop, STALL_US)
        return calls

    def _time(self, name: str, calls: int, keep: Sequence[int]) -> Timed:
        order = [self.rng.randrange(SETS) for _ in range(calls)]
        answer = self.sides[name]({"op": "time", "order": order, "keep": list(keep), "stall_us": self.stall_us})
        times = answer.get("us")
        if not isinstance(times, list) or len(times) != calls or not all(type(t) in (int, float) for t in times):
            times = [math.nan]
        return Timed(times, _claimed(answer.get("host_us")), _claimed(answer.get("loop_us")), order)

    def _block(self, name: str, calls: int, checked: bool) -> None:
        keep = [self.rng.randrange(calls)] if checked else []
        start = time.perf_counter()
        timed = self._time(name, calls, keep)
        wall = time.perf_counter() - start
        if name == "candidate" and math.isnan(settled(timed.us)):
            raise Malformed("times of calls that are no times")
        self.blocks[name].us.append(settled(timed.us))
        self.blocks[name].host_us.append(timed.host_us)
        self.blocks[name].wall.setdefault(calls, []).append(wall)
        for kept in keep:
            self.check(kept, timed.order[kept])

    def _result(self, case: str) -> TimedSize:
        baseline, candidate = self.blocks["baseline"].us, self.blocks["candidate"].us
        ratios = [math.log(b / c) for b, c in zip(baseline, candidate, strict=True)]
        speedup, ci = interval(ratios, self.rng)
        theirs, ours = (statistics.median(self.blocks[name].host_us) for name in ("baseline", "candidate"))
        return TimedSize(case, statistics.median(baseline), statistics.median(candidate), speedup, ci, theirs, ours)

    def claim_ok(self) -> bool:
        """Whether the candidate's device times agree with the broker's clock."""
        claim, seen = self._clocks()
        return seen - claim <= max(claim, SLACK_US)

    def claim_absurd(self) -> bool:
        claim, seen = self._clocks()
        return seen - claim > 4 * claim + 10 * SLACK_US

    def _clocks(self) -> tuple[float, float]:
        """Microseconds per call as the candidate's process claims, and as seen from outside."""
        overhead = self.blocks["baseline"].slope_us() - statistics.median(self.blocks["baseline"].us)
        claim = statistics.median(self.blocks["candidate"].us)
        return claim, self.blocks["candidate"].slope_us() - max(overhead, 0.0)


def _claimed(us: Any) -> float:
    """Microseconds on the host, 0 for what is no time."""
    return float(us) if type(us) in (int, float) and 0 <= us < 1e9 else 0.0


def interval(log_ratios: Sequence[float], rng: random.Random) -> tuple[float, list[float]]:
    """Median ratio and its 95 % bootstrap interval over blocks."""
    medians = sorted(statistics.median(rng.choices(log_ratios, k=len(log_ratios))) for _ in range(RESAMPLES))
    low, high = medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]
    return math.exp(statistics.median(log_ratios)), [math.exp(low), math.exp(high)]


def combined(sizes: list[TimedSize]) -> Timing:
    """Geometric mean over sizes; the interval from those of the sizes, which are independent."""
    logs = [math.log(size.speedup) for size in sizes]
    spread = math.sqrt(sum((math.log(s.ci[1] / s.ci[0]) / 2) ** 2 for s in sizes)) / len(sizes)
    centre = sum(logs) / len(logs)
    return Timing("eager", sizes, math.exp(centre), [math.exp(centre - spread), math.exp(centre + spread)], True, METHOD)
