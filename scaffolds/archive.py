"""The archive of an evolution: the best program of every cell, cells being a family of strategies and what its kernels need of the device.

MAP-Elites (Mouret and Clune 2015) with a cap, a ring of islands, and a bandit over cells or families. Pure functions of JSON-like values.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from agents.counts import Counts
from scaffolds.rank import ordered
from scaffolds.state import Attempt

Archive = dict[str, Attempt]
"""The best passing attempt of each cell."""
Arms = dict[str, list[float]]
"""Of each arm of a bandit: how often it was pulled, and the sum of its rewards in [0, 1]."""

EXPLORE = 0.1
"""Weight of the doubt about an arm. UCB1's 1.41 would drown rewards that lie as close as these (1.1 times as fast is 0.57), and PIKE found
that exploiting pays."""
PRIOR = 0.5
"""What an arm counts before it was pulled: as good as the best so far."""
SEEN = 800
"""Programs that are remembered, the newest ones."""


def cell(family: str, counts: Counts) -> str:
    return f"{family}/{resources(counts)}"


def resources(counts: Counts) -> str:
    """The bin of what the kernels need: spills, else occupancy in thirds, and whether shared memory is used."""
    if counts.spills:
        return "spills"
    third = "unknown" if counts.occupancy is None else ("low", "middle", "high")[min(2, int(3 * counts.occupancy))]
    return f"{third}+shared" if counts.shared_bytes else third


def insert(archive: Archive, arrivals: Iterable[tuple[str, Attempt]], capacity: int) -> Archive:
    """The archive after a barrier: of each cell its best passing attempt, of the cells the best `capacity`. Their order does not matter."""
    best = dict(archive)
    for place, attempt in arrivals:
        if attempt["verdict"] == "pass":
            best[place] = ordered([attempt, best[place]] if place in best else [attempt])[0]
    kept = {a["id"] for a in elites(best)[:capacity]}
    return {place: best[place] for place in sorted(best) if best[place]["id"] in kept}


def elites(archive: Archive) -> list[Attempt]:
    """Best first."""
    return ordered(archive.values())


def home(archive: Archive, attempt: Attempt) -> str:
    """The cell that an elite lives in."""
    return next(place for place, elite in archive.items() if elite["id"] == attempt["id"])


def migrate(archives: Sequence[Archive], leaving: Iterable[int], capacity: int) -> list[Archive]:
    """The islands after each one named in `leaving` sent a copy of its best to the next in the ring; none travels two steps at once."""
    after = list(archives)
    for n in leaving:
        if archives[n]:
            best = elites(archives[n])[0]
            to = (n + 1) % len(archives)
            after[to] = insert(after[to], [(home(archives[n], best), best)], capacity)
    return after


def choose(arms: Arms, names: Iterable[str], tie: Callable[[], float]) -> str:
    """The arm of `names` with the highest upper confidence bound; `tie` decides between equal ones, asked once an arm."""
    known = {name: arms.get(name, [0, 0.0]) for name in names}
    pulls = 1 + sum(count for count, _ in known.values())

    def bound(name: str) -> float:
        count, rewards = known[name]
        return (rewards + PRIOR) / (count + 1) + EXPLORE * math.sqrt(math.log(pulls) / (count + 1))

    return max(known, key=lambda name: (bound(name), tie()))


def pulled(arms: Arms, names: Iterable[str]) -> Arms:
    """The arms with one more pull each, before its reward is known: what is chosen at the same time looks elsewhere."""
    return {**arms, **{name: [arms.get(name, [0, 0.0])[0] + 1, arms.get(name, [0, 0.0])[1]] for name in names}}


def credited(arms: Arms, names: Iterable[str], reward: float) -> Arms:
    """The arms with the reward of a pull."""
    return {**arms, **{name: [arms[name][0], arms[name][1] + reward] for name in names}}


def reward(speed: float | None, best: float | None) -> float:
    """Of a child's speed beside the best before it: 1 for twice as fast, 0.5 for as fast, 0 for half as fast or for a failure (None)."""
    if speed is None or best is None:
        return 0.0 if speed is None else PRIOR
    return min(1.0, max(0.0, 0.5 + 0.5 * math.log2(speed / best)))


def remembered(seen: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Fingerprints and the attempts that had them, the newest ones."""
    return dict(list({**seen, **new}.items())[-SEEN:])
