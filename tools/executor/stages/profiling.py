"""The profile stage (device mode): what a candidate that has passed and was timed reaches. Whatever happens here changes no verdict."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tools import platforms
from tools.executor.channel import enclosed
from tools.executor.peer import START_S, Peer, WorkerLost
from tools.executor.stages import claims
from tools.executor.stages.verdicts import OURS, Stop
from tools.profile import Kernel, achieved, shares
from tools.roofline import Work

if TYPE_CHECKING:
    from tools.executor.stages.course import Course


COUNTING_S = 90.0
"""For the profiler, which repeats every launch several times."""
COUNTED_BYTES = 256 << 20
"""Of inputs at most, for the counters: they lie in the profiler's box, which has a size."""


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
        course, case = self.course, self._largest()
        with course.gpu(shared=True):
            course.reopen()
            layout = course.judge({"op": "inputs", "case": case, "seed": course.settings.seed, "compared": False})
            answer = course.ask({"op": "trace", "args": layout["args"], "kwargs": layout["kwargs"]}, course.settings.case_s)
        return {"case": case} | shares([_kernel(item) for item in answer.get("kernels") or () if isinstance(item, dict)])

    def _counters(self) -> dict[str, Any]:
        """Of the largest timing size that fits into the profiler's box, by a process of its own (`tools.executor.walls.counting`)."""
        course, worker = self.course, self.course.worker
        if platforms.ncu.path() is None:
            return {"error": "ncu is not installed"}
        if course.task.origin:
            return {"error": "counters are read for tasks of the suites only: the profiler's process draws their inputs itself"}
        if course.record.isolation["level"] != "full":
            return {"error": "counters are read at isolation level full only: the profiler needs a network, which must be its own"}
        request = {
            "task": course.task.id, "case": self._largest(COUNTED_BYTES), "seed": course.settings.seed, "gpu": worker.gpu,
            "devices": worker.device["nodes"], "drop": "uid drop" in course.record.isolation["layers"], "seconds": COUNTING_S,
        }  # fmt: skip
        peer = Peer.without_secrets("tools.executor.walls.counting")
        try:
            with course.gpu(shared=False), enclosed(course.source) as candidate:
                return peer.ask(request, worker.cancelled, (candidate,), COUNTING_S + START_S)
        except WorkerLost as lost:
            return {"error": str(lost)}
        finally:
            peer.stop()

    def _largest(self, most: int | None = None) -> str:
        """The timing case whose least traffic is largest; with `most` among those whose inputs are no larger, or the smallest."""
        sizes = {}
        for case in self.course.cases["timing"]:
            work = self._estimate(case["name"])["work"]
            sizes[case["name"]] = (work["read"], work["read"] + work["written"]) if work else (0, 0)
        fitting = [name for name, (read, _) in sizes.items() if most is None or read <= most] or [min(sizes, key=lambda name: sizes[name])]
        return max(fitting, key=lambda name: sizes[name][1])

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
