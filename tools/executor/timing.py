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
from typing import IO

from tools.evaluation import TimedSize, Timing
from tools.executor.channel import Malformed, Message, readable
from tools.executor.clock import settled
from tools.executor.remote import Cancelled
from tools.executor.worker import Worker

SETS = 3
"""Input sets that are rotated."""
PAIRS = 12
"""Blocks of each side per size."""
FEWEST = 8
"""As many where the time is up."""
BLOCK_US = 20_000.0
"""Aimed length of a block."""
CALLS = (4, 40)
"""Fewest and most calls in a short block; a long one has twice as many."""
RESAMPLES = 2000
FLUSH_BYTES = 256 << 20
"""At least so much is overwritten before each call: it also keeps the device busy while the host prepares the launch."""
SLACK_US = 100.0
"""By how much the slope may exceed the claim without a second look: the wrapper's own time on the host."""
CHECKED = 3
"""Blocks of which one output is checked."""
METHOD = f"device events, {PAIRS} block pairs in A B B A order, {SETS} input sets in turn, L2 overwritten, median of log ratios"

Side = Callable[[Message], Message]
"""Asks the judge or the sandbox."""


@dataclass
class Blocks:
    """What one side's blocks took: device microseconds per call as claimed, wall seconds by number of calls."""

    us: list[float] = field(default_factory=list)
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


class Contest:
    """Times one size. `check(kept, values)` has the judge look at a kept output of the candidate."""

    def __init__(self, judge: Side, sandbox: Side, check: Callable[[int, int], None], rng: random.Random):
        self.sides = {"baseline": judge, "candidate": sandbox}
        self.check = check
        self.rng = rng
        self.blocks = {name: Blocks() for name in self.sides}

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
        longest = 0.0
        for name in self.sides:
            self._time(name, 3, [])
            longest = max(longest, settled(self._time(name, 5, [])[0]))
        return CALLS[0] if math.isnan(longest) else max(CALLS[0], min(CALLS[1], int(BLOCK_US / max(longest, 1.0))))

    def _time(self, name: str, calls: int, keep: Sequence[int]) -> tuple[list[float], list[int]]:
        order = [self.rng.randrange(SETS) for _ in range(calls)]
        answer = self.sides[name]({"op": "time", "order": order, "keep": list(keep)})
        times = answer.get("us")
        if not isinstance(times, list) or len(times) != calls or not all(type(t) in (int, float) for t in times):
            return [math.nan], order
        return times, order

    def _block(self, name: str, calls: int, checked: bool) -> None:
        keep = [self.rng.randrange(calls)] if checked else []
        start = time.perf_counter()
        times, order = self._time(name, calls, keep)
        wall = time.perf_counter() - start
        if name == "candidate" and math.isnan(settled(times)):
            raise Malformed("times of calls that are no times")
        self.blocks[name].us.append(settled(times))
        self.blocks[name].wall.setdefault(calls, []).append(wall)
        for kept in keep:
            self.check(kept, order[kept])

    def _result(self, case: str) -> TimedSize:
        baseline, candidate = self.blocks["baseline"].us, self.blocks["candidate"].us
        ratios = [math.log(b / c) for b, c in zip(baseline, candidate, strict=True)]
        speedup, ci = interval(ratios, self.rng)
        return TimedSize(case, statistics.median(baseline), statistics.median(candidate), speedup, ci)

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
