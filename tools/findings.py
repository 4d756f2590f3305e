"""What the instruments have found, in words that an author can act on. A finding is an entry of `Evaluation.memory`."""

from typing import Any

_RACES = {
    "write_write": "programs {first} and {second} store different values to {place}",
    "read_after_write": "program {second} reads {place}, which program {first} writes",
    "write_after_read": "program {second} writes {place}, which program {first} reads",
    "atomic_store": "program {second} meets program {first} at {place}, one with an atomic and one with a plain store",
    "within_store": "one store of program {second} writes different values to {place}",
}


def access(found: dict[str, Any]) -> str:
    """One out of bounds. Where only its traces were seen, as on a device, there is no program, and its bytes stand for its lanes."""
    where = f"{found['kernel']} {found['kind']}s outside the memory of {found['tensor']}"
    if not found["program"]:
        return f"{where}: {found['lanes']} bytes beside it were changed"
    return f"{where}, first at index {found['index']} in program {found['program']}: {found['lanes']} lanes"


def race(found: dict[str, Any]) -> str:
    programs = [*found["programs"], [], []]
    words = _RACES.get(found["kind"], "programs {first} and {second} conflict at {place}")
    place = f"{found['tensor']}[{found['index']}]"
    return f"{found['kernel']} races: {words.format(first=programs[0], second=programs[1], place=place)} ({found['lanes']} lanes)"
