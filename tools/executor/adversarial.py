"""The adversarial stage: what a right answer alone does not show."""

from typing import TYPE_CHECKING

from tools.executor.correctness import Correctness
from tools.executor.verdicts import OURS, Stop, shown

if TYPE_CHECKING:
    from tools.executor.course import Course

REPLAY = 2
"""Added to the seed: for the replay without launches."""


class Adversarial:
    def __init__(self, course: "Course", correctness: Correctness):
        self.course = course
        self.correctness = correctness

    def run(self) -> None:
        """Own launches on every call with something to do, and outputs that need them."""
        for case in self.course.cases["cases"]:
            if self.correctness.launches.get(case["name"]) == 0:
                raise Stop("not_triton", f"no Triton kernel of the candidate was launched in {shown(case)}")
        for case in [c for c in self.course.cases["cases"] if c["name"] in self.correctness.launches]:
            try:
                _, answer = self.correctness.answered(case, self.course.settings.seed + REPLAY, noop=True)
            except Stop as stop:
                if stop.failure.kind in OURS:
                    raise
                # Without its launches it hangs or crashes: it needs them.
                return
            if answer.get("error"):
                continue
            check = self.correctness.check(answer)
            if check["ok"] and not check["trivial"]:
                raise Stop("not_triton", f"the output of {shown(case)} is right even when no kernel is launched")
