"""Examples of all that a brief may hold, for tests of templates and for `agents.show`."""

from dataclasses import asdict
from typing import Any

from agents import feedback, roles
from agents.models.base import Ancestor, Brief
from agents.plans import Diagnosis, Edit, Plan
from tools.evaluation import CaseResult, Evaluation, Failure, TimedSize, Timing
from tools.profile import Achieved, Kernel, shares

PLAN = Plan(
    "keep the row in registers", (Edit(12, 15, "load the row once, before the loop", "half the bytes", "rows too long for registers"),)
)
DIAGNOSIS = Diagnosis("memory_traffic", "2.9 times the least bytes are moved")
STRATEGIES = ("reuse", "launch")
TRIED = ("tile: 256 columns a program: 0.81 times the speed of 002.01.00",)
LESSONS = ("Masked lanes of a maximum need the neutral element -inf, not 0.",)


def passing() -> Evaluation:
    done = Evaluation("", "", verdict="pass", stage="timing", compiled=True, correct=True, cases=[CaseResult("fp32", False, True)])
    sizes = [TimedSize("small", 8.1, 9.7, 0.84, [0.8, 0.88]), TimedSize("large", 310.0, 172.0, 1.8, [1.78, 1.82])]
    done.timing = Timing("eager", sizes, 1.23, [1.19, 1.27])
    kernel = {"name": "rows_kernel", "registers": 56, "spills": 0, "shared_bytes": 128, "occupancy": 0.56}
    done.compile = [{"target": "", "kernels": [kernel], "seconds": 0.4, "error": None}]
    reached = [
        Achieved("small", 9.7, 216.5, 0.0, 0.045, 0.0, "memory", 0.045),
        Achieved("large", 172.0, 1560.7, 0.0, 0.325, 0.0, "memory", 0.325),
    ]
    times = [Kernel("rows_kernel", 171.2, 1, True), Kernel("fill", 1.9, 1, False)]
    done.profile = {"roofline": [asdict(row) for row in reached], "kernels": {"case": "large", **shares(times)}}
    return done


def failing() -> Evaluation:
    wrong = CaseResult(
        "odd", False, False, 0.41, 0.083, [16, 1022], 0.71, 1.2e-6, "wrong_numeric", "odd: 29 % of elements out of tolerance", [0, 1]
    )
    error = Failure("wrong_numeric", wrong.message, {"case": "odd"})
    return Evaluation("", "", verdict="wrong_numeric", stage="correctness", compiled=True, error=error, cases=[wrong])


def brief(role: str, task: str, source: str, digest: dict[str, Any] | None = None) -> Brief:
    """A brief of `role` with a parent, and everything else that any role's templates may show."""
    mends = roles.find(role).mends
    made = digest or feedback.digest(failing() if mends else passing())
    ancestor = Ancestor("002.01.00", source, feedback.digest(passing()), "one program for each row")
    return Brief(task, role, source, made, (ancestor,), LESSONS, PLAN, DIAGNOSIS, STRATEGIES, TRIED)
