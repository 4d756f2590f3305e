"""Single calls of the candidate, as the broker sees them: asked of the sandbox, judged by the judge, with what else they show."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.evaluation import Failure
from tools.executor.channel import Message
from tools.executor.stages import claims
from tools.executor.stages.instruments import Instruments
from tools.executor.stages.torch_work import TorchWork
from tools.executor.stages.verdicts import OURS, Stop

if TYPE_CHECKING:
    from tools.executor.stages.course import Course

NOOP_S = 5.0
"""For a call without launches, which may make an honest wrapper wait for ever."""


@dataclass
class Outcome:
    """What one call showed. `failure` is what is wrong with its answer, if anything."""

    case: Message
    launches: int = 0
    empty: bool = False
    """Whether there was nothing to compute."""
    trivial: bool = False
    """Whether untouched memory might be the right answer."""
    numbers: Message = field(default_factory=dict)
    failure: Failure | None = None
    error: bool = False
    """Whether the call raised, or the sandbox was lost."""
    lost: bool = False
    foul: Failure | None = None
    """What is wrong with the way in which a right answer came about."""

    @property
    def kind(self) -> str:
        return self.failure.kind if self.failure else "pass"


class Trials:
    """Every call of the correctness and the adversarial stage goes through `call`; all look alike to the candidate."""

    def __init__(self, course: "Course"):
        self.course = course
        self.work = TorchWork()
        self.instruments = Instruments(course)
        self.calls = 0

    def call(self, case: Message, seed: int, again: bool = False, noop: bool = False, finite: bool = False) -> Outcome:
        """Draws inputs and has the candidate called on them: in new memory or, with `again`, in that of the last call; with kernels
        that do nothing, or with fresh memory that holds finite numbers in place of NaN. Raises `Stop` where the sandbox is lost.
        """
        course, record = self.course, self.course.record
        if failure := self._constructed(case):
            return Outcome(case, failure=failure, error=True)
        layout = course.judge({"op": "inputs", "case": case["name"], "seed": seed})
        self.calls += 1
        poison = 2 * (course.drawn(f"poison {self.calls}") >> 1) + finite
        request = {"op": "call", "args": layout["args"], "kwargs": layout["kwargs"], "again": again, "noop": noop, "poison": poison}
        answer = course.ask(request, NOOP_S if noop else course.settings.case_s, soft=True)
        outcome = Outcome(case, claims.count(answer.get("launches")), layout["empty"])
        course.note_compiled(claims.compiles(answer.get("compiles")))
        record.launches = (record.launches or 0) + (0 if case["held_out"] else outcome.launches)
        seen = None if noop else self.instruments.failure(answer, case, seed)
        if answer.get("error"):
            outcome.failure, outcome.error = Stop.reported(answer["error"], case=case["name"]).failure, True
            return outcome
        check = course.check(answer)
        outcome.trivial, outcome.numbers = check["trivial"], check
        outcome.empty |= check["nothing"]
        self.work.note(case, layout, check, answer)
        if not noop:
            # Outside of its memory, or in a race, a launch's numbers mean nothing.
            check = seen or check
            outcome.foul = tampering(answer, case) or _foul(answer, check, case)
        outcome.failure = _failure(check, case)
        return outcome

    def _constructed(self, case: Message) -> Failure | None:
        """Has a candidate that is a class made before the inputs lie in the shared memory: a constructor computes as it likes."""
        init = self.course.init(case["name"])
        if init is None:
            return None
        answer = self.course.ask({"op": "construct", "init": init}, self.course.settings.case_s, soft=True)
        return Stop.reported(answer["error"], case=case["name"]).failure if answer.get("error") else None

    def tried(self, case: Message, seed: int, **options: bool) -> Outcome:
        """The same, with the loss of the sandbox as one more outcome."""
        try:
            return self.call(case, seed, **options)
        except Stop as stop:
            if stop.failure.kind in OURS:
                raise
            return Outcome(case, failure=stop.failure, error=True, lost=True)


NUMBERS = ("max_abs", "rel_rms", "worst_index", "matched", "tolerance", "first_index")


def _failure(check: Message, case: Message) -> Failure | None:
    if check["ok"]:
        return None
    numbers = {n: check[n] for n in NUMBERS if check.get(n) is not None}
    return Failure(check["kind"], check["message"], {"case": case["name"]} | check.get("detail", {}) | numbers)


def tampering(answer: Message, case: Message | None = None) -> Failure | None:
    """What the candidate has changed of the instruments that watch it. None of it can be changed by accident."""
    names = answer.get("tampered")
    if not names:
        return None
    listed = ", ".join(claims.text(name)[:80] for name in names[:4]) if isinstance(names, list) else "something"
    return Failure("suspected_hack", f"the candidate has changed what watches it: {listed}", {"case": case["name"]} if case else {})


def _foul(answer: Message, check: Message, case: Message) -> Failure | None:
    if check.get("aliasing"):
        return Failure("aliasing", check["aliasing"], {"case": case["name"]})
    if answer.get("late"):
        return Failure("suspected_hack", "the outputs still changed after the call had returned", {"case": case["name"]})
    return None
