"""The correctness stage: the candidate is called on every case, and the judge compares."""

from typing import TYPE_CHECKING, Any

from tools.evaluation import CaseResult, Failure
from tools.executor.channel import Message
from tools.executor.stages.trials import NUMBERS, Outcome, Trials
from tools.executor.stages.verdicts import Stop

if TYPE_CHECKING:
    from tools.executor.stages.course import Course

FRESH = 1
"""Added to the seed: new values for the same memory."""
FATAL = frozenset({"compile_error", "unsupported", "oom"})
"""Errors after which no further case is tried."""


class Correctness:
    def __init__(self, course: "Course", trials: Trials):
        self.course = course
        self.trials = trials
        self.stops: list[tuple[Failure, str]] = []
        """What is wrong with each case that is not right, and the stage that it came to."""
        self.outcomes: list[Outcome] = []
        """Of the calls that answered."""

    def run(self) -> None:
        """All cases, in groups: the visible ones; those of timing sizes, which cost most; the held-out ones. A group is tried only by
        candidates that pass those before it. The verdict is that of the first case that fails, at the stage that this one came to.
        """
        cases = self.course.cases["cases"]
        timing = self.course.cases["timing"] if self.course.device else []
        visible, held_out = ([c for c in cases if bool(c["held_out"]) is hidden] for hidden in (False, True))
        for group in (visible, timing, held_out):
            if group is held_out:
                self.course.mark_held_out()
            for case in group:
                if not self._case(case, new=case is visible[0]):
                    break
            if self.stops:
                failure, stage = self.stops[0]
                self.course.stage(stage)
                raise Stop.because(failure)

    def _case(self, case: Message, new: bool) -> bool:
        """Tries one case: where each call draws anew, twice on the same inputs; with `new` also on new values where the old ones were.
        False where no further one can be.
        """
        seed = self.course.settings.seed
        outcome = self._call(case, seed)
        if self.course.task.contract.random and not outcome.failure:
            outcome = self._call(case, seed)
        if new and not outcome.failure:
            outcome = self._call(case, seed + FRESH, again=True)
        failure = outcome.failure
        numbers: dict[str, Any] = {n: outcome.numbers.get(n) for n in NUMBERS}
        result = CaseResult(case["name"], case["held_out"], True, **numbers)
        if failure:
            self.stops.append((failure, self.course.record.stage))
            result.ok, result.kind, result.message = False, failure.kind, failure.message
        self.course.record.cases.append(result)
        # A device that has refused once may be in any state.
        return not outcome.lost and not (outcome.error and (self.course.device or outcome.kind in FATAL))

    def _call(self, case: Message, seed: int, again: bool = False) -> Outcome:
        outcome = self.trials.tried(case, seed, again=again)
        if outcome.lost:
            return outcome
        record, refused = self.course.record, outcome.kind == "compile_error"
        record.compiled = not refused and not any(c["error"] for c in record.compile)
        if not refused:
            self.course.stage("correctness")
        if not outcome.error:
            self.outcomes.append(outcome)
        return outcome
