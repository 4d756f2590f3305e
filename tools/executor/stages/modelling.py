"""The modelled time of a candidate that has passed, in simulated mode. Whatever happens here changes no verdict.

Blocks of thousands of elements by one warp take the compiler minutes, so the stage has a time of its own, measured by the verdict's:
a figure that decides nothing does not take longer.
"""

import time
from typing import TYPE_CHECKING, Any

from tools import platforms
from tools.executor.channel import Message
from tools.executor.stages import claims
from tools.executor.stages.verdicts import OURS, Stop
from tools.modelled import Eager, Launch, Size, record, unknown
from tools.platforms.simulated import NAME, SHEET

if TYPE_CHECKING:
    from tools.executor.stages.course import Course

PROGRAMS = 4
"""Of each launch that are interpreted."""
LEAST_S = 3.0
"""What modelling may take, compilations and the rest each, where the verdict took less."""
_NUMBERS = (
    "sectors_loaded", "sectors_stored", "sectors_atomic", "span_loaded", "span_stored", "loads", "flops", "num_warps", "programs_run",
    "registers", "spills", "shared_bytes",
)  # fmt: skip


class Modelling:
    def __init__(self, course: "Course"):
        self.course = course

    def run(self) -> None:
        """Fills `modelled` of the record: with times, or with an `error` in one sentence."""
        course, start = self.course, time.monotonic()
        course.stage(course.record.stage)
        seconds = max(LEAST_S, sum(s for name, s in course.record.resources.items() if name.endswith("_s") and name != "gpu_s"))
        try:
            course.record.modelled = self._modelled(start + seconds)
        except Stop as stop:
            if stop.failure.kind in OURS:
                raise
            late = f"not within {seconds:.1f} s" if stop.failure.kind == "timeout" else stop.failure.message
            course.record.modelled = unknown(f"the candidate could not be counted at its timing sizes: {late}")
        course.record.resources["modelled_s"] = round(time.monotonic() - start, 4)
        # None of it goes to the account of the stage before.
        course.entered = time.monotonic()

    def _modelled(self, end: float) -> dict[str, Any]:
        sizes = []
        for case in self.course.cases["timing"]:
            known = self.course.judge({"op": "estimate", "case": case["name"]})
            if known["eager"] is None:
                return unknown("the reference needs values to run, so that eager torch cannot be modelled")
            request = {"op": "sample", "args": known["args"], "kwargs": known["kwargs"], "programs": PROGRAMS}
            answer = self._ask(request, max(0.0, end - time.monotonic()))
            launches = [Launch.counted(_report(item)) for item in answer.get("traffic") or ()]
            if not launches or claims.count(answer.get("launches")) > len(launches):
                return unknown("no launches were seen at a timing size, or too many to count")
            sizes.append(Size(case["name"], tuple(launches), Eager(tuple(known["eager"]))))
        if not sizes:
            return unknown("the task has no timing cases")
        return record(sizes, NAME, platforms.nearest(self.course.settings.targets, SHEET.target), PROGRAMS)

    def _ask(self, request: Message, seconds: float) -> Message:
        """An answer of the sandbox; `seconds` are for all compilations together, and for the rest."""
        box = self.course.box
        box.compiling_s = min(box.compiling_s, seconds)
        answer: Message = self.course.guarded(lambda: box.ask(request, seconds, seconds))
        if answer.get("error"):
            raise Stop.reported(answer["error"])
        return answer


def _report(item: Any) -> Message:
    """What the sandbox says of one launch, cut to the expected form."""
    item = item if isinstance(item, dict) else {}
    grid, dot = item.get("grid"), item.get("dot_flops")
    return {
        "kernel": claims.text(item.get("kernel"))[:200],
        "grid": [max(1, claims.count(axis)) for axis in grid[:3]] if isinstance(grid, list) else [1],
        "dot_flops": {str(k)[:40]: claims.amount(v) for k, v in list(dot.items())[:20]} if isinstance(dot, dict) else {},
    } | {name: claims.amount(item.get(name)) for name in _NUMBERS}
