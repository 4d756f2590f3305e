"""The profile stage (device mode): what a candidate that has passed and was timed reaches. Whatever happens here changes no verdict."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tools import platforms
from tools.executor import claims
from tools.executor.verdicts import OURS, Stop
from tools.profile import Kernel, achieved, shares
from tools.roofline import Work

if TYPE_CHECKING:
    from tools.executor.course import Course


class Profiling:
    def __init__(self, course: "Course"):
        self.course = course

    def run(self) -> None:
        """Fills `profile` of the record: `roofline` by size, `kernels` by time, and on request the hardware's counters (`ncu`)."""
        found = {"roofline": self._roofline(), "kernels": self._tried(self._kernels)}
        if self.course.settings.profile == "ncu":
            found["ncu"] = self._tried(self._counters)
        self.course.record.profile = found

    def _roofline(self) -> list[dict[str, Any]] | dict[str, Any]:
        timing, sheet = self.course.record.timing, platforms.sheet_of(self.course.record.device)
        if timing is None or sheet is None:
            return {"error": self.course.record.no_timing or f"there is no hardware sheet for {self.course.record.device}"}
        works = {size.case: self._estimate(size.case)["work"] for size in timing.sizes}
        return [asdict(achieved(s.case, s.candidate_us, Work(**works[s.case]), sheet)) for s in timing.sizes if works[s.case]]

    def _kernels(self) -> dict[str, Any]:
        """Of the largest timing size."""
        self.course.reopen()
        case = self._largest()
        layout = self.course.judge({"op": "inputs", "case": case, "seed": self.course.settings.seed})
        request = {"op": "trace", "args": layout["args"], "kwargs": layout["kwargs"]}
        with self.course.gpu(shared=True):
            answer = self.course.ask(request, self.course.settings.case_s)
        return {"case": case} | shares([_kernel(item) for item in answer.get("kernels") or () if isinstance(item, dict)])

    def _counters(self) -> dict[str, Any]:
        if platforms.ncu.path() is None:
            return {"error": "ncu is not installed"}
        return {"error": "not yet"}

    def _largest(self) -> str:
        """The timing case whose least traffic is largest; the last one where nothing is known."""
        names = [case["name"] for case in self.course.cases["timing"]]
        works = {name: self._estimate(name)["work"] for name in names}
        return max(names, key=lambda name: (works[name]["read"] + works[name]["written"] if works[name] else 0, names.index(name)))

    def _estimate(self, case: str) -> dict[str, Any]:
        return self.course.judge({"op": "estimate", "case": case})

    def _tried(self, part: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        try:
            return part()
        except Stop as stop:
            if stop.failure.kind in OURS:
                raise
            return {"error": stop.failure.message}


def _kernel(item: dict[str, Any]) -> Kernel:
    us: Any = item.get("us")
    time = float(us) if type(us) in (int, float) and 0 <= us < 1e12 else 0.0
    return Kernel(claims.text(item.get("name"))[:200], round(time, 3), claims.count(item.get("calls")), item.get("own") is True)
