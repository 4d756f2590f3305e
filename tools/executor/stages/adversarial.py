"""The adversarial stage: what right answers alone do not show.

First comes what the calls of the correctness stage showed beside their numbers, then further calls, in an order and with values
drawn from the candidate, the task and the seed: nobody who writes the candidate knows them, and they are the same at every try.
"""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from tools.evaluation import Failure
from tools.executor.channel import Message
from tools.executor.stages.correctness import Correctness
from tools.executor.stages.torch_work import words
from tools.executor.stages.trials import Outcome, Trials
from tools.executor.stages.verdicts import Stop, shown

if TYPE_CHECKING:
    from tools.executor.stages.course import Course

Found = tuple[Message, Failure]
"""The case, and what is wrong."""
LAST = "right to the last call"


class Adversarial:
    def __init__(self, course: "Course", trials: Trials, correctness: Correctness):
        self.course = course
        self.trials = trials
        self.outcomes = correctness.outcomes
        self.worked = [o.case for o in self.outcomes if not o.empty]
        self.replay = True
        """Whether calls without launches still come back."""

    def run(self) -> None:
        """Every check in turn, up to the first that fails. Raises `Stop` for it."""
        facts: dict[str, Callable[[], Found | None]] = {
            "own launches": self._launched,
            "torch does not compute": self._computed,
            "way of answering": self._fouls,
        }
        for name, check in facts.items():
            self._record(name, check())
        for name, found in self._calls():
            self._record(name, found)
            # The calls of the check have been watched too.
            self._record("torch does not compute", self._computed())

    def _record(self, name: str, found: Found | None) -> None:
        rows = self.course.record.adversarial
        row = {"check": name, "ok": found is None, "message": "", "held_out": False}
        if found:
            case, failure = found
            row |= {"message": failure.message, "held_out": bool(case["held_out"])}
        if not any(r["check"] == name and r["ok"] for r in rows) or found:
            rows.append(row)
        self.course.record.torch_work = self.trials.work.summary()
        if found:
            raise Stop(found[1].kind, f"{name}, {shown(found[0])}: {found[1].message}", found[1].detail)

    def _launched(self) -> Found | None:
        idle = next((o for o in self.outcomes if not o.empty and not o.launches), None)
        return (idle.case, Failure("not_triton", "no Triton kernel of the candidate was launched")) if idle else None

    def _computed(self) -> Found | None:
        found = self.trials.work.computed()
        return (found[0], Failure("not_triton", words(found[1]), {"case": found[0]["name"]})) if found else None

    def _fouls(self) -> Found | None:
        return next(((o.case, o.foul) for o in self.outcomes if o.foul), None)

    def _calls(self) -> Iterator[tuple[str, Found | None]]:
        """Checks that take calls of their own, by name; a chain of three calls on two cases, a replay of every case, in mixed order."""
        rng = random.Random(self.course.drawn("order"))
        plan = [partial(self._replay, case) for case in {c["name"]: c for c in self.worked}.values()]
        for held_out in (False, True):
            if cases := [c for c in self.worked if bool(c["held_out"]) is held_out]:
                plan.append(partial(self._chain, rng.choice(cases)))
        rng.shuffle(plan)
        for step in plan:
            self.course.reopen()
            yield from step()
        if self.worked:
            self.course.reopen()
            yield LAST, self._answer(self.trials.tried(self.worked[0], self.course.drawn(LAST)))

    def _chain(self, case: Message) -> Iterator[tuple[str, Found | None]]:
        """A right answer for new values, for others in the same memory, and for those again in other memory."""
        seeds = [self.course.drawn(f"{case['name']} {number}") for number in range(2)]
        yield "new values", self._answer(self.trials.tried(case, seeds[0]))
        second = self.trials.tried(case, seeds[1], again=True)
        yield "same memory, new values", self._answer(second)
        third = self.trials.tried(case, seeds[1], finite=True)
        found = self._answer(third)
        if found and not third.error and not self.course.task.contract.random:
            message = f"right with one content of fresh memory, not with another: {found[1].message}"
            found = (case, Failure("nondeterministic", message, found[1].detail))
        elif not found and third.launches < second.launches:
            message = f"{third.launches} launches for inputs seen before, {second.launches} for new ones"
            found = (case, Failure("suspected_hack", message, {"case": case["name"]}))
        yield "new memory, old values, other poison", found

    def _replay(self, case: Message) -> Iterator[tuple[str, Found | None]]:
        """With kernels that do nothing, inputs seen before must not be answered."""
        if not self.replay:
            return
        outcome = self.trials.tried(case, self.course.settings.seed, noop=True)
        # Without its launches it hangs or crashes: it needs them.
        self.replay = not outcome.lost
        right = not outcome.failure and not outcome.trivial
        failure = Failure("not_triton", "the output is right even when no kernel is launched", {"case": case["name"]})
        yield "replay without kernels", (case, failure) if right else None

    def _answer(self, outcome: Outcome) -> Found | None:
        failure = outcome.failure or outcome.foul
        return (outcome.case, failure) if failure else None
