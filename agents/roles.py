"""Roles: who asks a model for what. A role is a folder of `prompts/` and the way its replies are read."""

from dataclasses import dataclass
from typing import Literal

from benchmark.errors import unknown

Reads = Literal["candidate", "reflection", "plan", "diagnosis"]


@dataclass(frozen=True)
class Role:
    name: str
    """Also the folder of its templates and the `role` of a brief."""
    reads: Reads
    """How its replies are read: `agents.parsing` has the first two, `agents.plans` the others."""

    @property
    def writes(self) -> bool:
        """Whether it answers with a candidate."""
        return self.reads == "candidate"


ROLES = {
    role.name: role
    for role in (
        Role("generator", "candidate"),
        Role("repairer", "candidate"),
        Role("optimiser", "candidate"),
        Role("reflector", "reflection"),
        Role("planner", "plan"),
        Role("coder", "candidate"),
        Role("debugger", "candidate"),
        Role("judge", "diagnosis"),
        Role("critic", "reflection"),
        Role("mutator", "candidate"),
        Role("recombiner", "candidate"),
        Role("restructurer", "candidate"),
    )
}


def find(name: str) -> Role:
    if name not in ROLES:
        raise unknown("role", name, ROLES)
    return ROLES[name]
