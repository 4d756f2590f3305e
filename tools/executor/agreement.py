"""The rule of two clocks: what a sandbox says its calls took on the device, held against the time that went by outside of it.

A block of calls takes as long on the wall as its requests, its stall, copies and flushes, and the calls themselves. The baseline's
blocks beside it have all that is not the candidate's, and their device times can be trusted. So

    wall of the candidate's block - wall of the baseline's block = calls * (candidate - baseline)

holds whatever the candidate does, for its work cannot be done outside of the wall's time; and the difference of long and short
blocks says the same without what a request costs. Launch-bound calls are no exception: a stall keeps the device busy while the
host enqueues the block, so what the wrapper takes on the host is in neither clock; where the host cannot keep ahead even
then, the device waits for it and both clocks see that.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

REQUEST_US = 200.0
"""By how much a request to the sandbox may take longer than one to the judge."""
NOISE_US = 10.0
"""The wall of a block is not known better than this."""
SIGMAS = 3.0
SLACK = 0.03
"""Part of a claim that is not argued about: frequency steps, what kept memory does to address translation."""
SLACK_US = 1.0
FAR = 2.0
FAR_US = 50.0
"""A claim is far off where the other clock shows more than `FAR` times as much and `FAR_US` more."""


@dataclass
class Blocks:
    """One side's blocks in order: device and host microseconds per call as the side says, and seconds on the wall for so many calls."""

    us: list[float] = field(default_factory=list)
    host_us: list[float] = field(default_factory=list)
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
    def granted(self) -> float:
        return max(self.claim, self.least)


def compare(baseline: Blocks, candidate: Blocks) -> Agreement:
    """Both sides' blocks were taken in pairs of as many calls, of two lengths."""
    claim = candidate.median
    (few, short), (many, long) = sorted(_differences(baseline, candidate).items())
    noise = max(_noise(baseline), NOISE_US)
    errors = {calls: 1.25 * noise * math.sqrt(2 / len(found)) for calls, found in ((few, short), (many, long))}
    slope = baseline.median + (statistics.median(long) - statistics.median(short)) / (many - few)
    whole = baseline.median + (statistics.median(long) - REQUEST_US) / many
    least = max(slope - SIGMAS * math.hypot(errors[few], errors[many]) / (many - few), whole - SIGMAS * errors[many] / many)
    return Agreement(claim, slope, least - SLACK_US - SLACK * claim)


def _differences(baseline: Blocks, candidate: Blocks) -> dict[int, list[float]]:
    """Microseconds by which the candidate's blocks took longer, by number of calls."""
    found: dict[int, list[float]] = {}
    for calls, theirs, ours in zip(baseline.calls, baseline.walls, candidate.walls, strict=True):
        found.setdefault(calls, []).append((ours - theirs) * 1e6)
    return found


def _noise(baseline: Blocks) -> float:
    """Spread (one sigma, by the median of deviations) of a block's wall about that of equal blocks, in microseconds."""
    walls: dict[int, list[float]] = {}
    for calls, wall in zip(baseline.calls, baseline.walls, strict=True):
        walls.setdefault(calls, []).append(wall * 1e6)
    deviations = [abs(wall - statistics.median(equal)) for equal in walls.values() for wall in equal]
    return 1.4826 * statistics.median(deviations) * math.sqrt(len(deviations) / max(1, len(deviations) - len(walls)))


def scaled(us: Sequence[float], agreement: Agreement) -> list[float]:
    """Claimed times, made longer where the other clock demands it."""
    return [t * agreement.granted / agreement.claim for t in us]
