"""The rule of two clocks: what a sandbox says its calls took on the device, held against the time that went by outside of it.

A block of calls takes as long on the wall as its requests, its stall, copies and flushes, and the calls themselves. The baseline's
blocks beside it have all that is not the candidate's, and their device times can be trusted. So

    wall of the candidate's block - wall of the baseline's block = calls * (candidate - baseline)

holds whatever the candidate does, for its work cannot be done outside of the wall's time. Of the walls the shortest count: a busy
host makes walls longer, and nothing makes them shorter than the work. (The slope between long and short blocks, which is recorded
too, is free of what a request costs, but a candidate could wait in its short blocks.) Nor may it make the baseline's walls longer:
they are compared with those of the baseline alone, when the candidate's process is gone.

Launch-bound calls are no exception: a stall keeps the device busy while the
host enqueues the block, so what the wrapper takes on the host is in neither clock; where the host cannot keep ahead even
then, the device waits for it and both clocks see that.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

REQUEST_US = (100.0, 250.0)
"""By how much a request to the sandbox may take longer than one to the judge: always, and at most where empty ones do."""
DISTURBED_US = 300.0
"""By how much the shortest walls of equal blocks may differ."""
SIGMAS = 2.0
"""Of the baseline's walls, which are noisy too."""
SLACK, SLACK_US = 0.03, 3.0
"""Part of a claim, and microseconds per call, that are not argued about: frequency steps, what kept memory does to address translation,
what an answer takes longer from behind the sandbox's walls (2.1 us per call at most, at 36 honest sizes on an H200 with a slow host)."""
DOUBT_US = 15.0
"""A claim that is below the other clock by no more is published, and said to be in doubt: a device that waits for its host between short
calls shows that too.
"""
SEALED_SLACK_US = 100.0
"""The same of blocks on sealed values, which are few, and in which the device may wait for the host: they show gross lies only, and
no time is made longer by them."""
SEALED_NOISE_US = 2_000.0
"""By how much the baseline's own ones may differ, and be taken for a busy host."""
FAR = 2.0
FAR_US = 50.0
"""A claim is far off where the other clock shows more than `FAR` times as much and `FAR_US` more."""


@dataclass
class Blocks:
    """One side's blocks in order: device and host microseconds per call as the side says, and seconds on the wall for so many calls."""

    us: list[float] = field(default_factory=list)
    host_us: list[float] = field(default_factory=list)
    loop_us: list[float] = field(default_factory=list)
    """With copies and flush."""
    calls: list[int] = field(default_factory=list)
    walls: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.us)


@dataclass(frozen=True)
class Agreement:
    """Microseconds per call of the candidate."""

    claim: float
    slope: float
    """By the broker's clock, what a request costs excluded."""
    least: float
    """What the broker's clock does not allow to go below: its noise is in the candidate's favour."""

    @property
    def ok(self) -> bool:
        return self.claim >= self.least

    @property
    def far(self) -> bool:
        return self.least > FAR * self.claim + FAR_US

    @property
    def doubtful(self) -> bool:
        """Whether the claim cannot stand."""
        return self.least > self.claim + DOUBT_US

    @property
    def granted(self) -> float:
        return self.least if self.doubtful else self.claim


def allowance(baseline: list[float], candidate: list[float]) -> float:
    """Microseconds that a request of the candidate may take in addition, from the seconds that empty ones took."""
    longer = (statistics.median(candidate) - statistics.median(baseline)) * 1e6
    return max(REQUEST_US[0], min(REQUEST_US[1], 2 * longer))


def compare(baseline: Blocks, candidate: Blocks, request_us: float) -> Agreement:
    """Both sides' blocks were taken in pairs of as many calls, of two lengths; `request_us` as `allowance` gives it."""
    theirs, ours = _walls(baseline), _walls(candidate)
    few, many = sorted(theirs)
    longer = {calls: statistics.median(ours[calls]) - statistics.median(theirs[calls]) for calls in (few, many)}
    least = min(ours[many]) - min(theirs[many]) - request_us - SIGMAS * _noise(theirs)
    claim = candidate.median
    return Agreement(
        claim, baseline.median + (longer[many] - longer[few]) / (many - few), baseline.median + least / many - SLACK_US - SLACK * claim
    )


def sealed(baseline: Blocks, candidate: Blocks, known: Agreement, baseline_us: float, request_us: float) -> Agreement:
    """The same from blocks on values that came with the request, whose results were there before the answer: what is done outside of
    these walls helps nobody. `known` is what the other blocks have shown, the claim among it.
    """
    calls = baseline.calls[0]
    longer = (min(candidate.walls) - min(baseline.walls)) * 1e6 - 2 * request_us
    noise = min((max(baseline.walls) - min(baseline.walls)) * 1e6, SEALED_NOISE_US)
    return replace(known, least=baseline_us + (longer - noise) / calls - SEALED_SLACK_US)


def _walls(blocks: Blocks) -> dict[int, list[float]]:
    """Microseconds, by number of calls."""
    found: dict[int, list[float]] = {}
    for calls, wall in zip(blocks.calls, blocks.walls, strict=True):
        found.setdefault(calls, []).append(wall * 1e6)
    return found


def _noise(walls: dict[int, list[float]]) -> float:
    """The error of the median of equal walls: one sigma, by the median of the deviations."""
    deviations = [abs(wall - statistics.median(equal)) for equal in walls.values() for wall in equal]
    count = len(deviations)
    return 1.25 * 1.4826 * statistics.median(deviations) / math.sqrt(max(1, count / len(walls) - 1))


def delayed(beside: Blocks, alone: Blocks) -> float:
    """How many times as long, at least, the shortest walls of a side's blocks were beside the candidate as alone."""
    theirs, free = _walls(beside), _walls(alone)
    many = max(theirs)
    return (min(theirs[many]) - DISTURBED_US) / min(free[many])


def scaled(us: Sequence[float], agreement: Agreement) -> list[float]:
    """Claimed times, made longer where the other clock demands it."""
    return [t * agreement.granted / agreement.claim for t in us]
