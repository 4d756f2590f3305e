"""A planner's reply: a strategy and edits anchored to lines of a module; and a judge's: one bottleneck with its evidence."""

import difflib
import re
from dataclasses import dataclass

from agents.parsing import labelled, prose, readable

MAX_EDITS = 5
MAX_TEXT = 300
"""Characters of one field of an edit."""
EDIT = re.compile(
    r"^[ \t#>*_-]{0,8}edit[*_]{0,2}:[*_]{0,2}[ \t]*(?:lines?[ \t]*)?(\d{1,6})(?:[ \t]*(?:-|to)[ \t]*(\d{1,6}))?[ \t]*[:;,|.-]?[ \t]*(.*)$",
    re.I,
)
FIELD = re.compile(r"^[ \t#>*_-]{0,8}(expected|risk)[*_]{0,2}:[*_]{0,2}[ \t]*(\S.*)$", re.I)


@dataclass(frozen=True)
class Edit:
    first: int
    last: int
    """Lines of the parent's source, from 1, both included."""
    change: str
    expected: str
    """Which measured number should move, and where to."""
    risk: str


@dataclass(frozen=True)
class Plan:
    strategy: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Diagnosis:
    bottleneck: str
    """One of `agents.strategies.BOTTLENECKS`."""
    evidence: str


def plan(text: str) -> Plan | None:
    """The plan in a reply: a `Strategy:` line and `Edit: lines 3-7: ...` lines, each followed by its `Expected:` and `Risk:`."""
    edits: list[dict[str, str]] = []
    for line in prose(readable(text)):
        if found := EDIT.match(line):
            edits.append({"first": found[1], "last": found[2] or found[1], "change": found[3].strip()[:MAX_TEXT]})
        elif edits and (field := FIELD.match(line)):
            edits[-1].setdefault(field[1].lower(), field[2].strip()[:MAX_TEXT])
    made = tuple(
        Edit(int(e["first"]), max(int(e["first"]), int(e["last"])), e["change"], e.get("expected", ""), e.get("risk", ""))
        for e in edits[:MAX_EDITS]
        if e["change"]
    )
    return Plan(labelled(text, "strategy"), made) if made else None


def followed(plan: Plan, parent: str, child: str) -> bool:
    """Whether the child differs from its parent at a line that the plan names, or right beside one."""
    before, after = parent.splitlines(), child.splitlines()
    for kind, first, last, _, _ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal" and any(first + 1 <= edit.last + 1 and edit.first - 1 <= max(last, first + 1) for edit in plan.edits):
            return True
    return False


def diagnosis(text: str, bottlenecks: frozenset[str] | dict[str, str]) -> Diagnosis | None:
    """The one bottleneck that a `Bottleneck:` line names; None where it names none of `bottlenecks`, or several."""
    said = labelled(text, "bottleneck").lower()
    named = [name for name in bottlenecks if re.search(rf"\b{re.escape(name)}\b", said.replace(" ", "_").replace("-", "_")) or name in said]
    return Diagnosis(named[0], labelled(text, "evidence")) if len(named) == 1 else None
