"""The correctness stage: the candidate is called on every case, and the judge compares."""

from typing import TYPE_CHECKING

from tools.evaluation import CaseResult
from tools.executor import claims
from tools.executor.channel import Message
from tools.executor.instruments import Instruments
from tools.executor.verdicts import OURS, Stop

if TYPE_CHECKING:
    from tools.executor.course import Course

NOOP_S = 5.0
"""For a call without launches, which may make an honest wrapper wait for ever."""
FRESH = 1
"""Added to the seed: new values for the same memory."""
FATAL = frozenset({"compile_error", "unsupported", "oom"})
"""Errors after which no further case is tried."""
NUMBERS = ("max_abs", "rel_rms", "worst_index", "matched", "tolerance", "first_index")


class Correctness:
    def __init__(self, course: "Course"):
        self.course = course
        self.failures: dict[str, Stop] = {}
        """By case, what to raise for it."""
        self.launches: dict[str, int] = {}
        """By case, for cases in which there is something to compute."""
        self.instruments = Instruments(course)

    def run(self) -> None:
        """All cases, the visible ones first; the held-out ones are tried only by candidates that pass those."""
        cases = self.course.cases["cases"] + (self.course.cases["timing"] if self.course.device else [])
        groups = [[c for c in cases if not c["held_out"]], [c for c in cases if c["held_out"]]]
        for number, group in enumerate(groups):
            if number == 1:
                self.course.mark_logs()
            for case in group:
                if not self._case(case, again=case is groups[0][0]):
                    break
            wrong = next((r for r in self.course.record.cases if not r.ok), None)
            if wrong:
                raise self.failures[wrong.case]

    def _case(self, case: Message, again: bool) -> bool:
        """Tries one case; the first one a second time, with new values where the old ones were. False where no further one can be."""
        name, usable = case["name"], True
        try:
            result = self._call(case, self.course.settings.seed)
            if again and result.ok:
                result = self._call(case, self.course.settings.seed + FRESH, again=True)
        except Stop as stop:
            if stop.failure.kind in OURS:
                raise
            self.failures[name], usable = stop, False
            result = CaseResult(name, case["held_out"], False, kind=stop.failure.kind, message=stop.failure.message)
        self.course.record.cases.append(result)
        return usable

    def _call(self, case: Message, seed: int, again: bool = False) -> CaseResult:
        name = case["name"]
        layout, answer = self.answered(case, seed, again=again)
        self._note(answer)
        seen = self.instruments.failure(answer, case, seed)
        if answer.get("error"):
            stop = Stop.reported(answer["error"], case=name)
            failure = stop.failure
            if failure.kind != "compile_error":
                self.course.stage("correctness")
            if failure.kind in FATAL or self.course.device:
                raise stop
            self.failures[name] = stop
            return CaseResult(name, case["held_out"], False, kind=failure.kind, message=failure.message)
        self.course.stage("correctness")
        if not layout["empty"]:
            self.launches[name] = self.launches.get(name, 0) + claims.count(answer.get("launches"))
        check = seen or self.check(answer)
        numbers = {n: check.get(n) for n in NUMBERS}
        if not check["ok"]:
            detail = {"case": name} | check.get("detail", {}) | {n: v for n, v in numbers.items() if v is not None}
            self.failures[name] = Stop(check["kind"], check["message"], detail)
        return CaseResult(name, case["held_out"], check["ok"], kind=check["kind"], message=check["message"], **numbers)

    def answered(self, case: Message, seed: int, again: bool = False, noop: bool = False) -> tuple[Message, Message]:
        """Draws inputs and has the candidate called on them."""
        layout = self.course.judge({"op": "inputs", "case": case["name"], "seed": seed})
        request = {"op": "call", "args": layout["args"], "kwargs": layout["kwargs"], "again": again, "noop": noop}
        with self.course.gpu(shared=True):
            return layout, self.course.ask(request, NOOP_S if noop else self.course.settings.case_s, soft=True)

    def check(self, answer: Message) -> Message:
        return self.course.judge({"op": "check", "result": answer.get("result"), "after": answer.get("after")})

    def _note(self, answer: Message) -> None:
        self.course.record.compile = claims.compiles(answer.get("compiles"))
        self.course.record.launches = (self.course.record.launches or 0) + claims.count(answer.get("launches"))
        failed = bool(answer.get("error")) and Stop.reported(answer["error"]).failure.kind == "compile_error"
        self.course.record.compiled = not failed and not any(c["error"] for c in self.course.record.compile)
