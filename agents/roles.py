"""Roles: who asks a model for what. A role is a folder of `prompts/` and the way its replies are read."""

from dataclasses import dataclass

from benchmark.errors import unknown


@dataclass(frozen=True)
class Role:
    name: str
    """Also the folder of its templates and the `role` of a brief."""
    writes: bool
    """Whether it answers with a candidate, else with a reflection."""


ROLES = {
    role.name: role
    for role in (
        Role("generator", writes=True),
        Role("repairer", writes=True),
        Role("optimiser", writes=True),
        Role("reflector", writes=False),
    )
}


def find(name: str) -> Role:
    if name not in ROLES:
        raise unknown("role", name, ROLES)
    return ROLES[name]
