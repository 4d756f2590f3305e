"""One lineage of GEAK's search: what it is at, and when what it has is given up, as the rules of each published variant say."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypedDict

from scaffolds.rank import pace
from scaffolds.state import Attempt

if TYPE_CHECKING:
    from scaffolds.geak import Config, GeakState


@dataclass(frozen=True)
class Rules:
    """What sets GEAK's published variants apart from ours, beside numbers."""

    pool: bool = True
    """Passing candidates are improved on; without a pool the first of them ends the search."""
    restart: Literal["own", "pool", "together"] = "own"
    """When failing code is given up: each lineage after `debug` repairs; only once there is a pool to go on from; or all
    lineages at once, as soon as one passes or has had `debug` repairs."""
    lessons: bool = True
    diverse: bool = True
    """The pool holds no program twice and at most `alike` of a family; authors see other examples and directions."""
    budgets: bool = True
    """`correctness`, `patience` and `roofline` count."""


VARIANTS = {
    "full": Rules(),
    "reflexion": Rules(pool=False, restart="pool", lessons=False, diverse=False, budgets=False),
    "v1": Rules(restart="pool", lessons=False, diverse=False, budgets=False),
    "v2": Rules(restart="together", lessons=False, diverse=False, budgets=False),
}


class Lineage(TypedDict):
    last: Attempt | None
    repairs: int
    """In a row."""
    fast: bool
    """Whether it goes on from the pool: what it spends now is for speed."""
    note: str
    """The reflector's, on `last`."""
    lesson: str


def empty() -> Lineage:
    return Lineage(last=None, repairs=0, fast=False, note="", lesson="")


def repairable(last: Attempt | None) -> bool:
    return last is not None and last["kernel"] is not None and last["verdict"] not in ("pass", "task_invalid")


def given_up(config: "Config", state: "GeakState", lineage: Lineage) -> bool:
    """Whether a failing lineage starts anew instead of being repaired."""
    if config.rules.restart == "pool" and not state["pool"]:
        return False
    if config.rules.restart == "together":
        lineages = state["lineages"].values()
        return any(passes(line["last"]) or line["repairs"] >= config.debug for line in lineages)
    late = bool(state["pool"]) and not lineage["fast"] and state["round"] >= config.correct_rounds
    return late or lineage["repairs"] >= config.debug


def passes(last: Attempt | None) -> bool:
    return last is not None and last["verdict"] == "pass"


def instructive(last: Attempt | None) -> bool:
    """Whether there is code, and a failure or a speed to reflect on."""
    return repairable(last) or (last is not None and last["verdict"] == "pass" and pace(last) is not None)
