"""The timing stage (device mode): the task's ladder of sizes under the GPU's lock."""

import contextlib
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from tools.evaluation import TimedSize, Timing
from tools.executor.channel import LIMIT, Message
from tools.executor.stages.ratios import geometric, mean
from tools.executor.stages.surroundings import Surroundings
from tools.executor.stages.timing import FRESH_RATIO, METHOD, SEALED_BYTES, SETS, Contest, Seal, Side, Untimed
from tools.executor.stages.trials import Trials
from tools.executor.stages.verdicts import OURS, Stop
from tools.roofline import MARGIN

if TYPE_CHECKING:
    from tools.executor.stages.course import Course

SEEDS = 1 << 48
FLUSH_BYTES = 256 << 20
"""At least so much is overwritten before each call."""
SEALED_HOST_BYTES = 64 << 20
"""Of sealed values, where they pass through the host's memory."""
SLOWED = 1.05
"""So many times as long the baseline may take beside the candidate as alone."""
SELF = (0.98, 1.02)
TRIES = 3
"""Of a size that speaks against the candidate, each on new values and in a new process."""
FORGIVEN = OURS | {"oom"}
"""What stops timing and says nothing against a candidate that was right: many results are kept at a time."""


class Ladder:
    def __init__(self, course: "Course", clock: Callable[[], float] = time.perf_counter):
        self.course = course
        self.clock = clock
        # Nobody but the broker knows which values come, in which order, and what is looked at.
        self.rng = random.Random(os.urandom(16))
        self.surroundings = Surroundings(lambda: course.judge({"op": "clocks"}))
        self.contests: dict[str, Contest] = {}
        self.floors: dict[str, Message] = {}
        self.sizes: dict[str, TimedSize] = {}
        self.uncompiled = ""
        """Why there is no compiled baseline."""
        self.sealed: set[str] = set()
        """Cases that are timed on values that nobody has seen, too: the largest, and one drawn by chance."""
        self.seeds: dict[int, int] = {}
        """By input set, what its values were drawn from."""

    def run(self) -> None:
        """Fills `timing` of the record, or `no_timing` with the reason. Raises `Stop` for what timing shows against the candidate."""
        record, cases = self.course.record, self.course.cases["timing"]
        if not cases:
            record.no_timing = "the task has no timing cases"
            return
        try:
            self._timed(cases)
        except Untimed as untimed:
            record.no_timing = f"no time could be had: {untimed}"
        except Stop as stop:
            if stop.failure.kind not in FORGIVEN:
                self.course.judge({"op": "rest"})
                raise
            trace = str(stop.failure.detail.get("traceback", "")).strip().splitlines()[-5:-1]
            record.no_timing = " ".join([f"timing failed: {stop.failure.message}", *map(str.strip, trace)])
        self.course.judge({"op": "rest"})

    def _timed(self, cases: list[Message]) -> None:
        """All sizes in one window, in an order drawn by chance; the last one is looked at more closely."""
        self._prepare(cases)
        order = self.rng.sample(cases, len(cases))
        self.sealed = {cases[-1]["name"], self.rng.choice(cases)["name"]}
        with self._locked():
            self._enter()
            self._all(order)
            self._right_after()
            self._alone(order[-1])
        self.course.record.timing = self._timing([case["name"] for case in cases])

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """The GPU for this timing alone; the seconds go to its account."""
        with self.course.gpu(shared=False):
            begun, resources = self.clock(), self.course.record.resources
            try:
                yield
            finally:
                resources["gpu_s"] = round(resources.get("gpu_s", 0.0) + self.clock() - begun, 3)

    def _prepare(self, cases: list[Message]) -> None:
        """What does not need the GPU alone: compiled baselines, and what the hardware's sheet allows."""
        if "compile" in self.course.settings.baselines:
            with self.course.gpu(shared=True):
                self._compile(cases)
        for case in cases:
            self.floors[case["name"]] = self.course.judge({"op": "floor", "case": case["name"], "seed": self.course.settings.seed})

    def _enter(self) -> None:
        """A living sandbox; and no floors where the GPU is faster than its sheet."""
        self._living()
        if doubt := self.course.judge({"op": "peaks"})["doubt"]:
            self.surroundings.notes.append(f"no floor: {doubt}")
            self.floors = {name: {"cold": None, "warm": None} for name in self.floors}

    def _living(self) -> None:
        """A sandbox for the candidate, and no other one that is still being made."""
        self.course.reopen()
        self.course.worker.settle_spare()

    def _compile(self, cases: list[Message]) -> None:
        """The reference for each size; where one fails there is none, and the next ones are not waited for."""
        seconds, seed = self.course.settings.timing_s, self.course.settings.seed
        for case in cases:
            found = self.course.judge({"op": "compile", "case": case["name"], "seed": seed, "seconds": seconds})
            if "error" in found:
                self.uncompiled = found["error"]
                return

    def _all(self, order: list[Message]) -> None:
        """Every size, and on the last one the baseline against itself; what is loaded for that stays."""
        self.share_s = self.course.settings.timing_s / len(order)
        self.surroundings.look("before")
        for case in order:
            self.course.judge({"op": "rest"})
            self._size(case)
            self.surroundings.look(case["name"])
        self.self_ratio = self.contests[order[-1]["name"]].self_ratio()

    def _size(self, case: Message) -> None:
        """One size; again, on new values, if something speaks against the candidate or its claim cannot stand. What does so each time
        is final; a process that others slow down is not taken for the candidate, so it gets a new one before it is accused again."""
        for attempt in range(TRIES):
            contest = self._contest(case)
            size: TimedSize = self.course.guarded(partial(contest.run, case["name"], self.share_s))
            size.floor_us = self.floors[case["name"]]["cold"]
            if self.uncompiled:
                size.compile = {"error": self.uncompiled}
            self.contests[case["name"]], self.sizes[case["name"]] = contest, size
            against = self._against(case, contest, size)
            if against and attempt + 1 == TRIES:
                raise against
            if not against and (attempt or not contest.agreement.doubtful):
                break
            if against:
                self.course.box.kill()
                self._living()
        clock = contest.agreement
        if clock.ok:
            return
        self.surroundings.notes.append(
            f"{case['name']}: the candidate's process reports {clock.claim:.1f} us per call, the broker's clock shows at least "
            f"{clock.least:.1f}; {clock.granted:.1f} us are given"
        )

    def _against(self, case: Message, contest: Contest, size: TimedSize) -> Stop | None:
        """What the times themselves say against the candidate."""
        if contest.fresh > FRESH_RATIO:
            message = f"calls on values that were never seen before take {contest.fresh:.2f} times as long"
            return Stop("suspected_hack", message, {"case": case["name"]})
        for blocks, clock in contest.clocks().items():
            if clock.far:
                message = (
                    "the device times that the candidate's process reports are far too short for the time that went by: "
                    f"{clock.claim:.1f} us per call, and {clock.least:.1f} by the broker's clock"
                )
                return Stop("suspected_hack", message, {"case": case["name"], "blocks": blocks, "host_busy": self.surroundings.busy()})
        floors = self.floors[case["name"]]
        warm = size.warm["candidate_us"] if size.warm else None
        for us, floor in ((size.candidate_us, floors["cold"]), (warm, floors["warm"])):
            if us is not None and floor is not None and us < MARGIN * floor:
                message = f"a call took {us:.2f} us; the least traffic and arithmetic of the task need {floor:.2f} us on this hardware"
                return Stop("below_floor", message, {"case": case["name"]})
        return None

    def _right_after(self) -> None:
        """A correctness case once more: who is right while it is watched may be wrong when it has run often."""
        case = self.rng.choice([c for c in self.course.cases["cases"] if not c["held_out"]])
        outcome = Trials(self.course).call(case, self.rng.randrange(SEEDS))
        if failure := outcome.failure or outcome.foul:
            raise Stop(failure.kind, f"right before timing and not after it: {failure.message}", failure.detail)

    def _alone(self, case: Message) -> None:
        """The baseline when the candidate's process is gone: what that one left running must not have slowed it down."""
        for attempt in range(TRIES):
            self.course.box.kill()
            ratio = self.contests[case["name"]].slowed()
            if ratio <= SLOWED:
                return
            if attempt + 1 < TRIES:
                self._living()
                self._size(case)
        raise Stop(
            "suspected_hack", f"the baseline takes at least {ratio:.2f} times as long beside the candidate as alone", {"case": case["name"]}
        )

    def _contest(self, case: Message) -> Contest:
        """Gives both sides the same input sets."""
        facts: Message = {}
        for number in range(SETS):
            self._draw(case, number)
            facts |= self.course.judge(self._load(number))
            self.course.ask(self._load(number), self.course.settings.case_s)
        course = self.course

        def asked(of: str, request: Message) -> Message:
            return course.judge(request | {"of": of})

        def check(call: int, values: int) -> None:
            self._check(case, self.seeds[values], course.ask({"op": "give", "call": call}, course.settings.case_s))

        sides: dict[str, Side] = {
            "baseline": partial(asked, "eager"),
            "candidate": lambda request: course.ask(request, course.settings.timing_s),
        }
        if "compile" in course.settings.baselines and not self.uncompiled:
            sides["compile"] = partial(asked, "compile")
        seal = self._seal(case, facts["input_bytes"]) if case["name"] in self.sealed else None
        return Contest(sides, check, self.rng, facts["flush_us"], facts["free_bytes"], seal, self.clock)

    def _check(self, case: Message, seed: int, answer: Message) -> None:
        found = self.course.check(answer, case=case["name"], seed=seed)
        if not found["ok"]:
            raise Stop(found["kind"], f"wrong in a timed call: {found['message']}", {"case": case["name"]})

    def _seal(self, case: Message, input_bytes: int) -> Seal:
        seeds: list[int] = []

        def draw(calls: int) -> list[Message]:
            seeds[:] = [self.rng.randrange(SEEDS) for _ in range(calls)]
            found: list[Message] = self.course.judge({"op": "seal", "case": case["name"], "seeds": seeds})["sets"]
            return found

        memory = self.course.box.memory
        instant = memory["gpu"] is not None
        room = min(memory["size"] // 4, SEALED_BYTES if instant else SEALED_HOST_BYTES)
        # Results are described in one message as inputs are.
        most = min(room // max(input_bytes, 1), LIMIT // 4 // len(json.dumps(self.layout)))
        return Seal(draw, lambda call, node: self._check(case, seeds[call], node), most, room, instant)

    def _draw(self, case: Message, number: int) -> None:
        """New values of a case, for an input set of both sides."""
        self.seeds[number] = self.rng.randrange(SEEDS)
        # Few of them are looked at, and a judge at work would disturb the clock.
        layout = self.course.judge({"op": "inputs", "case": case["name"], "seed": self.seeds[number], "compared": False})
        self.layout = {name: layout[name] for name in ("args", "kwargs", "mutates")}

    def _load(self, number: int) -> Message:
        flush = max(2 * self.course.worker.device["l2_bytes"], FLUSH_BYTES)
        return {"op": "load", "set": number, "flush": flush} | self.layout

    def _timing(self, names: list[str]) -> Timing:
        sizes = [self.sizes[name] for name in names]
        speedup, ci = mean(sizes)
        others: dict[str, Any] = {}
        for field in ("compile", "warm"):
            found = [getattr(size, field) for size in sizes]
            others[f"{field}_speedup"] = geometric([f["speedup"] for f in found]) if all(f and "speedup" in f for f in found) else None
        return Timing(
            "eager", sizes, speedup, ci, all(c.agreement.ok for c in self.contests.values()), METHOD, **others,
            self_ratio=self.self_ratio, noisy=not SELF[0] <= self.self_ratio <= SELF[1], clocks=self.surroundings.samples,
            tuning_s=max(contest.tuning_s for contest in self.contests.values()), notes=self.surroundings.notes,
        )  # fmt: skip
