"""Statistics of timing: ratios of blocks that were timed side by side."""

import math
import random
import statistics
from collections.abc import Sequence

from tools.evaluation import TimedSize

RESAMPLES = 2000


def interval(log_ratios: Sequence[float], rng: random.Random) -> tuple[float, list[float]]:
    """Median ratio and its 95 % bootstrap interval over blocks."""
    medians = sorted(statistics.median(rng.choices(log_ratios, k=len(log_ratios))) for _ in range(RESAMPLES))
    low, high = medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]
    return math.exp(statistics.median(log_ratios)), [math.exp(low), math.exp(high)]


def apart(one: Sequence[float], other: Sequence[float], rng: random.Random) -> float:
    """The low end of the 95 % interval for the ratio of the medians of blocks that were not timed side by side."""
    ratios = sorted(
        statistics.median(rng.choices(one, k=len(one))) / statistics.median(rng.choices(other, k=len(other))) for _ in range(RESAMPLES)
    )
    return ratios[int(0.025 * RESAMPLES)]


def geometric(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def mean(sizes: Sequence[TimedSize]) -> tuple[float, list[float]]:
    """Geometric mean of the speedups over sizes; its interval from those of the sizes, which are independent."""
    centre = sum(math.log(size.speedup) for size in sizes) / len(sizes)
    spread = math.sqrt(sum((math.log(s.ci[1] / s.ci[0]) / 2) ** 2 for s in sizes)) / len(sizes)
    return math.exp(centre), [math.exp(centre - spread), math.exp(centre + spread)]
