"""In the broker: what the interpreter's instruments saw. It is self-reported, so that it can only worsen a verdict."""

from typing import TYPE_CHECKING, Any

from tools.executor.channel import Message
from tools.executor.stages import claims

if TYPE_CHECKING:
    from tools.executor.stages.course import Course

MOST = 64
"""Findings of each kind that are kept of all calls."""
_RACES = {
    "write_write": "programs {first} and {second} store different values to {place}",
    "read_after_write": "program {second} reads {place}, which program {first} writes",
    "write_after_read": "program {second} writes {place}, which program {first} reads",
    "atomic_store": "program {second} meets program {first} at {place}, one with an atomic and one with a plain store",
    "within_store": "one store of program {second} writes different values to {place}",
}


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
            return {"ok": False, "kind": "out_of_bounds", "message": _access(accesses[0]), "detail": accesses[0]}
        if races:
            return {"ok": False, "kind": "data_race", "message": _race(races[0]), "detail": races[0]}
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


def _access(found: dict[str, Any]) -> str:
    where = f"{found['kernel']} {found['kind']}s outside the memory of {found['tensor']}, first at index {found['index']}"
    return f"{where} in program {found['program']}: {found['lanes']} lanes"


def _race(found: dict[str, Any]) -> str:
    programs = [*found["programs"], [], []]
    words = _RACES.get(found["kind"], "programs {first} and {second} conflict at {place}")
    place = f"{found['tensor']}[{found['index']}]"
    return f"{found['kernel']} races: {words.format(first=programs[0], second=programs[1], place=place)} ({found['lanes']} lanes)"
