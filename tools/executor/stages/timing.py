"""Measured speed (device mode): candidate and baselines in turns A B B A under a lock per GPU, told apart by two clocks."""

import math
import random
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tools.evaluation import TimedSize
from tools.executor.channel import Malformed, Message
from tools.executor.clock import RESOLUTION, settled
from tools.executor.stages.agreement import DOUBT_US, Agreement, Blocks, allowance, compare, delayed, scaled, sealed
from tools.executor.stages.ratios import apart, interval

SETS = 3
"""Input sets that are rotated."""
PAIRS, FEWEST = 12, 6
"""Blocks of each side per size: usually, and of slow calls or where the time is up."""
WARM_PAIRS, SELF_PAIRS, SOLO = 6, 8, 6
BLOCK_US = 5_000.0
"""Aimed length of a short block; a long one has twice as many calls."""
MOST_CALLS = 40
SIZE_US = 600_000.0
"""Aimed length of all blocks of a size together."""
KEPT_BYTES = 4 << 30
KEPT_SHARE = 1 / 8
"""What the results of a block may hold: so much, or this part of the memory that is free."""
STALL, AHEAD = 1.5, 5
"""The device is kept busy so many times as long as the host would fall behind, and for so many calls more."""
STALL_US = 60_000.0
"""At most."""
WARM_US = 10_000.0
"""For longer calls the cache does not matter: they are not timed warm."""
CHECKED = 3
"""Blocks of which one output is checked."""
EMPTY = 5
"""Requests by which it is seen what a request takes."""
SEALED, SEALED_CALLS, SEALED_BYTES = 3, 24, 1 << 30
"""Blocks on values that come with the request, calls of each at most, and bytes of their inputs or results."""
SEALED_LOOP_US = 100.0
FRESH_RATIO, FRESH_US = 1.5, 5.0
"""So many times as long, and so much longer, calls on new values may take."""
METHOD = (
    f"{RESOLUTION}, calls enqueued ahead so that none waits for the host, up to {PAIRS} block pairs in A B B A order, {SETS} input "
    "sets in random order, addresses in turn, L2 overwritten before each call, median of log ratios; no candidate's time "
    f"more than {DOUBT_US:g} us below what the broker's own clock around the blocks allows"
)

Side = Callable[[Message], Message]
"""Asks the judge or the sandbox."""


class Untimed(Exception):
    """No time can be had, through no fault of the candidate."""


@dataclass(frozen=True)
class Plan:
    """How one size is timed: calls of a short block, pairs of blocks, flushes that keep the device busy first."""

    calls: int
    pairs: int
    stall: int


def planned(us: Sequence[float], loop_us: float, flush_us: float, most: int, warm: bool = False) -> Plan:
    """For calls that take `us` on the device, by side, and `loop_us` on the host, with copies and flush; of `most` calls the results can
    be kept."""
    between = 0.0 if warm else flush_us
    whole = max(us) + between
    calls = max(1, min(MOST_CALLS, int(BLOCK_US / whole), most // 2))
    pairs = max(FEWEST, min(PAIRS, int(SIZE_US / (1.5 * len(us) * calls * whole))))
    behind = max(0.0, loop_us - min(us) - between) * 2 * calls
    stall = min(STALL * (behind + AHEAD * loop_us), STALL_US)
    return Plan(calls, WARM_PAIRS if warm else pairs, math.ceil(stall / flush_us))


@dataclass
class Answer:
    """A block as a side reports it."""

    us: list[float]
    host_us: float
    loop_us: float
    result_bytes: int


@dataclass
class Seal:
    """Values that nobody has seen: `draw(n)` has the judge draw them for n calls and says where they lie, `check(call, node)` has it
    look at one of the results. `instant`: whether they pass without the host, so that bringing them takes no time to speak of.
    """

    draw: Callable[[int], list[Message]]
    check: Callable[[int, Message], None]
    most: int
    """Calls whose values can pass at a time."""
    room: int
    """Bytes of results that can."""
    instant: bool


class Contest:
    """Times one size. `sides` are `baseline`, `candidate`, and `compile` where it is asked for.

    `check(call, values)` has the judge look at the output of a call of the candidate's last block: which one is drawn when
    the block is over. Raises `Malformed` for times of the candidate that are none, `Untimed` for those of others.
    """

    def __init__(
        self,
        sides: dict[str, Side],
        check: Callable[[int, int], None],
        rng: random.Random,
        flush_us: float,
        free_bytes: int,
        seal: Seal | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ):
        self.sides = sides
        self.clock = clock
        self.seal = seal
        self.check = check
        self.rng = rng
        self.flush_us = max(flush_us, 1.0)
        self.room = min(KEPT_BYTES, int(free_bytes * KEPT_SHARE))
        self.loop_us = self.request_us = 0.0
        self.tuning_s = 0.0
        self.warm_agreement: Agreement | None = None
        self.sealed_agreement: Agreement | None = None
        self.fresh = 1.0

    def run(self, case: str, seconds: float) -> TimedSize:
        """About `seconds` at most, where calls are not so slow that the fewest blocks take longer."""
        deadline = self.clock() + seconds
        self.plan = self._warm_up(deadline)
        self.blocks = self._main(deadline)
        self.loop_us = max(self.loop_us, *(statistics.median(blocks.loop_us) for blocks in self.blocks.values()))
        again = self._planned([min(blocks.us) for blocks in self.blocks.values()])
        if again.calls > 2 * self.plan.calls or self._behind():
            # Slow while it warmed up, and fast in blocks so short that the other clock shows little; or the device waited for the host.
            self.plan = again
            self.blocks = self._main(deadline)
        self.agreement = compare(self.blocks["baseline"], self.blocks["candidate"], self.request_us)
        if self.seal:
            self._sealed(self.seal)
        size = self._result(case)
        if self.agreement.granted < WARM_US and self.clock() < deadline:
            size.warm = self._warm(deadline)
        return size

    def clocks(self) -> dict[str, Agreement]:
        """What the two clocks say of each kind of blocks that there were."""
        found = {"cold": self.agreement, "warm": self.warm_agreement, "sealed": self.sealed_agreement}
        return {blocks: agreement for blocks, agreement in found.items() if agreement}

    def _behind(self) -> bool:
        """Whether a side's host was not done with a long block when the device was."""
        calls, stall = 2 * self.plan.calls, self.plan.stall * self.flush_us
        return any(
            calls * statistics.median(blocks.loop_us) > stall + calls * (min(blocks.us) + self.flush_us) for blocks in self.blocks.values()
        )

    def _main(self, deadline: float) -> dict[str, Blocks]:
        return self._series(tuple(self.sides), self.plan, deadline, checked=self.rng.sample(range(FEWEST), CHECKED))

    def self_ratio(self) -> float:
        """The baseline against itself, in turns, as if one of the two were the candidate."""
        sides = self.sides
        self.sides = {"baseline": sides["baseline"], "itself": sides["baseline"]}
        plan = Plan(self.plan.calls, SELF_PAIRS, self.plan.stall)
        found = self._series(tuple(self.sides), plan, math.inf)
        self.sides = sides
        logs = [math.log(one / other) for one, other in zip(found["baseline"].us, found["itself"].us, strict=True)]
        return math.exp(statistics.median(logs))

    def slowed(self) -> float:
        """How many times as long, at least, the baseline took beside the candidate as it takes alone now: on the device (the low end
        of the 95 % interval) or on the wall.
        """
        # The first blocks bring the device back to its pace.
        self._series(("baseline",), Plan(self.plan.calls, 2, self.plan.stall), math.inf)
        beside, alone = self.blocks["baseline"], self._series(("baseline",), Plan(self.plan.calls, SOLO, self.plan.stall), math.inf)
        return max(apart(beside.us, alone["baseline"].us, self.rng), delayed(beside, alone["baseline"]))

    def _sealed(self, seal: Seal) -> None:
        """Blocks on values that nobody has seen: what they say on both clocks. `fresh` is how many times as long the candidate takes on
        them, the baseline's own change taken off; 1 where the difference is too small to matter.
        """
        names = ("baseline", "candidate")
        found = {name: Blocks() for name in names}
        calls = max(1, min(SEALED_CALLS, 2 * self.plan.calls, seal.most, seal.room // max(self.result_bytes, 1)))
        for number in range(SEALED):
            sets = seal.draw(calls)
            for name in names if number % 2 == 0 else reversed(names):
                self._sealed_block(name, found[name], sets)
            call = self.rng.randrange(calls)
            seal.check(call, self.given[call])
        baseline, candidate = (self.blocks[name].median for name in names)
        change, new = found["baseline"].median / baseline, found["candidate"].median / candidate
        self.fresh = new / change if found["candidate"].median - candidate * change > FRESH_US else 1.0
        if seal.instant:
            self.sealed_agreement = sealed(found["baseline"], found["candidate"], self.agreement, baseline, self.request_us)

    def _sealed_block(self, name: str, blocks: Blocks, sets: list[Message]) -> None:
        self.sides[name]({"op": "clear"})
        # Each call takes the host longer here: values are brought and results carried off.
        loop_us, calls = 2 * self.loop_us + SEALED_LOOP_US, len(sets)
        stall = math.ceil(min(STALL * loop_us * calls, STALL_US) / self.flush_us)
        begun = self.clock()
        answer = self.sides[name]({"op": "sealed", "sets": sets, "stall": stall})
        blocks.walls.append(self.clock() - begun)
        blocks.calls.append(calls)
        blocks.us.append(_certain(name, _times(answer, calls)))
        if name == "candidate":
            given = answer.get("given")
            if not isinstance(given, list) or len(given) != calls or not all(isinstance(node, dict) for node in given):
                raise Malformed("results of calls that are none")
            self.given = given

    def _warm_up(self, deadline: float) -> Plan:
        """Calls that compile, tune, use each input set, and fill the allocator's cache with what a long block keeps."""
        first = [self._time(name, [0], 0) for name in self.sides]
        if self.clock() > deadline:
            raise Untimed("the first calls took all the time that there is for this size")
        trusted = [answer for name, answer in zip(self.sides, first, strict=True) if name != "candidate"]
        self.result_bytes = max(answer.result_bytes for answer in trusted)
        self.most = max(1, self.room // max(1, self.result_bytes))
        few = self.most < 2 * SETS or any(answer.us[0] > BLOCK_US for answer in first)
        answers = [self._time(name, [*range(SETS)] * (1 if few else 2), 0) for name in self.sides]
        self.loop_us = max(answer.loop_us for answer in answers)
        plan = self._planned([settled(answer.us) for answer in answers])
        for name in self.sides:
            self._time(name, self._order(2 * plan.calls), plan.stall)
        self.request_us = allowance(self._empty("baseline"), self._empty("candidate"))
        return plan

    def _empty(self, name: str) -> list[float]:
        """What requests take that have nothing to do; the first one has."""
        walls = []
        for _ in range(1 + EMPTY):
            begun = self.clock()
            self.sides[name]({"op": "clear"})
            walls.append(self.clock() - begun)
        return walls[1:]

    def _planned(self, us: Sequence[float]) -> Plan:
        known = [t if math.isfinite(t) else BLOCK_US for t in us]
        return planned(known, self.loop_us, self.flush_us, self.most)

    def _series(
        self, names: Sequence[str], plan: Plan, deadline: float, warm: bool = False, checked: Iterable[int] = ()
    ) -> dict[str, Blocks]:
        """Pairs of blocks, two short ones and two long ones in turn, the sides in one order and in the other."""
        found = {name: Blocks() for name in names}
        for pair in range(plan.pairs):
            calls = plan.calls if pair % 4 < 2 else 2 * plan.calls
            for name in names if pair % 2 == 0 else reversed(names):
                self._block(name, found[name], calls, plan.stall, warm)
                if name == "candidate" and pair in checked:
                    call = self.rng.randrange(calls)
                    self.check(call, self.order[call])
            if pair + 1 >= FEWEST and self.clock() > deadline:
                break
        return found

    def _block(self, name: str, blocks: Blocks, calls: int, stall: int, warm: bool) -> None:
        self.sides[name]({"op": "clear"})
        self.order = self._order(calls)
        start = self.clock()
        answer = self._time(name, self.order, stall, warm)
        wall = self.clock() - start
        blocks.us.append(_certain(name, answer.us))
        blocks.host_us.append(answer.host_us)
        blocks.loop_us.append(answer.loop_us)
        blocks.calls.append(calls)
        blocks.walls.append(wall)

    def _order(self, calls: int) -> list[int]:
        return [self.rng.randrange(SETS) for _ in range(calls)]

    def _time(self, name: str, order: list[int], stall: int, warm: bool = False) -> Answer:
        answer = self.sides[name]({"op": "time", "order": order, "stall": stall, "warm": warm})
        times, size = _times(answer, len(order)), answer.get("result_bytes")
        if name == "candidate":
            self.tuning_s = max(self.tuning_s, _claimed(answer.get("tuning_s")))
        return Answer(times, _claimed(answer.get("host_us")), _claimed(answer.get("loop_us")), size if type(size) is int else 0)

    def _warm(self, deadline: float) -> dict[str, Any]:
        """The same with the L2 cache as the last call left it."""
        names = ("baseline", "candidate")
        answers = [self._time(name, [0] * 5, 0, warm=True) for name in names]
        us = [min(_certain(name, answer.us), self.blocks[name].median) for name, answer in zip(names, answers, strict=True)]
        plan = planned(us, max(answer.loop_us for answer in answers), self.flush_us, 2 * MOST_CALLS, warm=True)
        found = self._series(names, plan, deadline, warm=True)
        self.warm_agreement = compare(found["baseline"], found["candidate"], self.request_us)
        return self._against(found["baseline"], scaled(found["candidate"].us, self.warm_agreement))

    def _result(self, case: str) -> TimedSize:
        ours = scaled(self.blocks["candidate"].us, self.agreement)
        cold = self._against(self.blocks["baseline"], ours)
        theirs, host = (statistics.median(self.blocks[name].host_us) for name in ("baseline", "candidate"))
        size = TimedSize(case, **cold, baseline_host_us=theirs, candidate_host_us=host, slope_us=self.agreement.slope)
        if "compile" in self.blocks:
            size.compile = self._against(self.blocks["compile"], ours)
        return size

    def _against(self, blocks: Blocks, ours: list[float]) -> dict[str, Any]:
        speedup, ci = interval([math.log(b / c) for b, c in zip(blocks.us, ours, strict=True)], self.rng)
        return {"baseline_us": blocks.median, "candidate_us": statistics.median(ours), "speedup": speedup, "ci": ci}


def _certain(name: str, times: Sequence[float]) -> float:
    """The median of a block."""
    us = settled(times)
    if math.isnan(us):
        raise Malformed("times of calls that are no times") if name == "candidate" else Untimed(f"the clock of {name} shows no time")
    return us


def _times(answer: Message, calls: int) -> list[float]:
    """Device microseconds of each call; not a number where they are no times."""
    times = answer.get("us")
    if not isinstance(times, list) or len(times) != calls or not all(type(t) in (int, float) for t in times):
        return [math.nan]
    return times


def _claimed(number: Any) -> float:
    """A time that a side reports of itself, 0 for what is no time."""
    return float(number) if type(number) in (int, float) and 0 <= number < 1e9 else 0.0
