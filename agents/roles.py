"""Roles: who asks a model for what. A role is a folder of `prompts/` and the way its replies are read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agents.strategies import BOTTLENECKS
from benchmark.errors import UserError, unknown

Reads = Literal["candidate", "reflection", "plan", "diagnosis"]


@dataclass(frozen=True)
class Role:
    name: str
    """Also the folder of its templates and the `role` of a brief."""
    reads: Reads
    """How its replies are read: `agents.parsing` has the first two, `agents.plans` the others."""
    needs: Mapping[str, Any] = field(default_factory=dict)
    """What `ask` must give its templates beside `agents.prompt.variables`, each with an example. Tests and `agents.show` render these."""
    mends: bool = False
    """Whether its parent is one that failed."""

    @property
    def writes(self) -> bool:
        """Whether it answers with a candidate."""
        return self.reads == "candidate"


NOTE = "Cause: rows are read twice, once for the maximum and once for the sum.\nFix: keep the row in registers between the two."
CAUSE = "Cause: masked lanes of the last block hold anything.\nFix: load them with other=0.0."
ROUNDS = {"rounds_left": 3}
AUTHORS = {"author": 1, "authors": 2}
LOADS = ("    row = tl.load(x + at, mask=at < n)\n", "    row = tl.load(x + at, mask=at < n, other=0.0)\n")
MENDED, BROKEN = ("@@ -12,2 +12,2 @@\n-{}+{}".format(*loads) for loads in (LOADS, LOADS[::-1]))

ROLES = {
    role.name: role
    for role in (
        Role("generator", "candidate", AUTHORS | ROUNDS),
        Role("repairer", "candidate", {"note": CAUSE} | ROUNDS, mends=True),
        Role("optimiser", "candidate", {"note": NOTE} | AUTHORS | ROUNDS),
        Role("reflector", "reflection"),
        Role("planner", "plan", {"masked": {"fuse": "one launch does all of it"}} | AUTHORS | ROUNDS),
        Role("coder", "candidate"),
        Role("debugger", "candidate", {"diff": BROKEN, "fixes": [{"verdict": "nonfinite", "diff": MENDED}]} | ROUNDS, mends=True),
        Role("judge", "diagnosis", {"counts": ["memory_traffic: 2.9 times the least bytes are moved"], "bottlenecks": BOTTLENECKS}),
        Role("critic", "reflection", {"before": "Verdict: pass", "diff": MENDED, "followed": True}),
        Role("mutator", "candidate", ROUNDS),
        Role("recombiner", "candidate", ROUNDS),
        Role("restructurer", "candidate", ROUNDS),
    )
}


def add(role: Role, folder: Path) -> None:
    """A third party's role, whose templates are `folder`/<name>/system.j2 and user.j2. For the import of its scaffold's module; the same
    module may be imported again. A name that is taken, and a template that is missing, are a UserError."""
    import prompts

    folder = folder.resolve()
    taken = prompts.home(f"{role.name}/user")
    if role.name in ROLES and taken != folder:
        raise UserError(f"Role {role.name!r} of {folder} is already one of {taken}; give it another name.")
    missing = [part for part in prompts.PARTS if not (folder / role.name / f"{part}.j2").is_file()]
    if missing:
        raise UserError(
            f"Role {role.name!r} needs templates that are not in {folder / role.name}: {', '.join(f'{m}.j2' for m in missing)}."
        )
    prompts.add(folder)
    ROLES[role.name] = role


def find(name: str) -> Role:
    if name not in ROLES:
        raise unknown("role", name, ROLES)
    return ROLES[name]
