"""The timing stage (device mode): the task's ladder of sizes under the GPU's lock."""

import random
import time
from functools import partial
from typing import TYPE_CHECKING

from tools.evaluation import TimedSize
from tools.executor.channel import Message
from tools.executor.timing import FLUSH_BYTES, SETS, Contest, combined
from tools.executor.verdicts import Stop

if TYPE_CHECKING:
    from tools.executor.course import Course

TIMED = 3
"""Added to the seed: for timing."""


class Ladder:
    def __init__(self, course: "Course"):
        self.course = course

    def run(self) -> None:
        """The ladder of sizes under the GPU's lock, in the same sandbox unless the replay has cost it its life."""
        self.course.reopen()
        rng, sizes = random.Random(self.course.settings.seed), []
        with self.course.gpu(shared=False):
            start = time.monotonic()
            for number, case in enumerate(self.course.cases["timing"]):
                sizes.append(self._size(case, rng, start + self.course.settings.timing_s * (number + 1) / len(self.course.cases["timing"])))
            self.course.record.resources["gpu_s"] = round(time.monotonic() - start, 3)
        if not sizes:
            self.course.record.no_timing = "the task has no timing cases"
        elif None in sizes:
            self.course.record.no_timing = "the device times that the candidate's process reports disagree with the time that went by"
        else:
            self.course.record.timing = combined([size for size in sizes if size])

    def _size(self, case: Message, rng: random.Random, deadline: float) -> TimedSize | None:
        """One size, once more if the candidate's claim disagrees with our clock; None where it still does."""
        for _ in range(2):
            contest = self._contest(case, rng)
            size: TimedSize = self.course.guarded(partial(contest.run, case["name"], deadline))
            self.course.judge({"op": "rest"})
            if contest.claim_ok():
                return size
        if contest.claim_absurd():
            raise Stop(
                "suspected_hack", "the device times that the candidate's process reports are far too short for the time that went by"
            )
        return None

    def _contest(self, case: Message, rng: random.Random) -> Contest:
        """Gives both sides the same input sets."""
        for number in range(SETS):
            layout = self.course.judge({"op": "inputs", "case": case["name"], "seed": self.course.settings.seed + TIMED + number})
            load = {"op": "load", "set": number, "flush": max(2 * self.course.worker.device["l2_bytes"], FLUSH_BYTES)}
            self.course.judge(load)
            self.course.ask(load | {"args": layout["args"], "kwargs": layout["kwargs"]}, self.course.settings.case_s)

        def check(kept: int, number: int) -> None:
            answer = self.course.ask({"op": "give", "kept": kept, "after": self.course.cases["mutates"]}, self.course.settings.case_s)
            seed = self.course.settings.seed + TIMED + number
            found = self.course.judge(
                {"op": "check", "seed": seed, "case": case["name"], "result": answer.get("result"), "after": answer.get("after")}
            )
            if not found["ok"]:
                raise Stop(found["kind"], f"wrong in a timed call: {found['message']}", {"case": case["name"]})

        return Contest(self.course.judge, lambda request: self.course.ask(request, self.course.settings.timing_s), check, rng)
