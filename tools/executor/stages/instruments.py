"""In the broker: what the interpreter's instruments saw. It is self-reported, so that it can only worsen a verdict."""

from typing import TYPE_CHECKING, Any

from tools import findings
from tools.executor.channel import Message
from tools.executor.stages import claims

if TYPE_CHECKING:
    from tools.executor.stages.course import Course

MOST = 64
"""Findings of each kind that are kept of all calls."""


class Instruments:
    def __init__(self, course: "Course"):
        self.course = course
        self._most = -1

    def failure(self, answer: Message, case: Message, seed: int) -> Message | None:
        """Notes what a call did; the failure of one that left its memory or raced, whose numbers then mean nothing."""
        accesses, races = claims.accesses(answer.get("out_of_bounds")), claims.races(answer.get("races"))
        if not self.course.device:
            self._record(accesses, races, {} if case["held_out"] else answer)
            if not case["held_out"]:
                self._count(claims.traffic(answer.get("traffic")), case, seed, claims.count(answer.get("launches")))
        if accesses:
            return {"ok": False, "kind": "out_of_bounds", "message": findings.access(accesses[0]), "detail": accesses[0]}
        if races:
            return {"ok": False, "kind": "data_race", "message": findings.race(races[0]), "detail": races[0]}
        return None

    def _record(self, accesses: list[dict[str, Any]], races: list[dict[str, Any]], answer: Message) -> None:
        memory = self.course.record.memory or {"out_of_bounds": [], "races": [], "advisories": []}
        self.course.record.memory = memory
        memory["out_of_bounds"] = (memory["out_of_bounds"] + accesses)[:MOST]
        memory["races"] = (memory["races"] + races)[:MOST]
        memory["advisories"] = list(dict.fromkeys(memory["advisories"] + claims.advisories(answer.get("advisories"))))[:MOST]

    def _count(self, traffic: dict[str, int], case: Message, seed: int, launches: int) -> None:
        """The sums of the case that moves most, of those that are shown, beside the least that its task must move."""
        moved = traffic["sectors_loaded"] + traffic["sectors_stored"]
        if moved > self._most:
            self._most = moved
            least = self.course.judge({"op": "least", "case": case["name"], "seed": seed})["bytes"]
            assert self.course.record.memory is not None
            self.course.record.memory |= traffic | {"minimal_bytes": least, "launches": launches}
