"""A planner's reply: a strategy and edits anchored to lines of a module; and a judge's: one bottleneck with its evidence.

Never raises, whatever the text is. Markdown around labels and numbers, ranges in any usual form, and a reply that is fenced as a whole are
read; what is longer than its bound is cut.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from agents.diffs import spans
from agents.parsing import FENCE, prose, readable

MAX_REPLY = 64 * 1024
"""Characters of a reply that are looked at."""
MAX_EDITS = 4
MAX_CHANGE = 600
"""Characters of what an edit says to do."""
MAX_FIELD = 200
"""Of every other field."""
LABEL = re.compile(
    r"^[\s#>*_`+-]{0,8}(?:\d{1,2}[.)][ \t]{0,3})?[*_`]{0,3}"
    r"(strategy|edit|change|expected|risk|bottleneck|evidence)s?\b([^:]{0,60}):[*_`]{0,3}[ \t]*(.*)$",
    re.IGNORECASE,
)
DASH = r"[ \t]*(?:-|\u2010|\u2011|\u2012|\u2013|\u2014|\.\.\.?|\bto\b|\bthrough\b|\buntil\b)[ \t]*"
SPAN = rf"L?(\d{{1,6}})(?:{DASH}(?:lines?[ \t]*)?L?(\d{{1,6}}))?(?![\w.]\d)"
ANCHOR = re.compile(rf"^[\s(\[*_`]{{0,6}}(lines?\b|L(?=\d))?[\s#:*_`]{{0,4}}{SPAN}", re.IGNORECASE)
ORDINAL = re.compile(r"^\W{0,4}\d{1,2}\b\W{0,3}")
MORE = re.compile(rf"^[ \t]*(?:,|;|&|\band\b|\+)[ \t]*(?:lines?[ \t]*)?{SPAN}", re.IGNORECASE)
JUNK = " \t)]*_`:;,|.-\u2013\u2014"


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


@dataclass
class Field:
    """A labelled line with the lines that go on with it. `between` stands before the colon: `Edit 2 (lines 3-7): ...`."""

    label: str
    between: str
    value: str

    def text(self, limit: int = MAX_FIELD) -> str:
        return self.value.strip(" \t*_")[:limit]


def plan(text: str) -> Plan | None:
    """The plan in a reply: a `Strategy:` line, and `Edit: lines 3-7: ...` lines, each with its `Expected:` and `Risk:`. None without an
    edit."""
    found = fields(text)
    edits: list[Edit] = []
    at = 0
    while at < len(found) and len(edits) < MAX_EDITS:
        head = found[at]
        at += 1
        if head.label != "edit" or (anchored := anchor(head)) is None:
            continue
        own: dict[str, Field] = {}
        while at < len(found) and found[at].label in ("change", "expected", "risk"):
            own.setdefault(found[at].label, found[at])
            at += 1
        places, change = anchored
        change = change or (own["change"].text(MAX_CHANGE) if "change" in own else "")
        expected, risk = (own[label].text() if label in own else "" for label in ("expected", "risk"))
        edits += [Edit(first, last, change, expected, risk) for first, last in places if change]
    said = [field.text() for field in found if field.label == "strategy" and field.text()]
    return Plan(said[-1] if said else "", tuple(edits[:MAX_EDITS])) if edits else None


def fields(text: str) -> list[Field]:
    """The labelled lines outside code, in order; of a reply that is all code, those within it."""
    whole = readable(text[:MAX_REPLY])
    return labelled(prose(whole)) or labelled(whole.split("\n"))


def labelled(lines: list[str]) -> list[Field]:
    found: list[Field] = []
    goes_on = False
    for line in lines:
        if FENCE.match(line):
            goes_on = False
        elif match := LABEL.match(line[: 2 * MAX_CHANGE]):
            found.append(Field(match[1].lower(), match[2], match[3]))
            goes_on = True
        elif goes_on and line.strip() and len(found[-1].value) < MAX_CHANGE:
            found[-1].value += f" {line.strip()[:MAX_CHANGE]}"
        else:
            goes_on = goes_on and bool(line.strip())
    return found


def anchor(field: Field) -> tuple[list[tuple[int, int]], str] | None:
    """The lines that an edit names, and what it says to do with them. `Edit 2:` alone is a number of an edit, not of a line."""
    for before in (field.between, ORDINAL.sub("", field.between)):
        if (match := ANCHOR.match(before)) and (match[1] or match[3]):
            return places(before, match), field.text(MAX_CHANGE)
    match = ANCHOR.match(field.value)
    return None if match is None else (places(field.value, match), rest(field.value, match).strip(JUNK)[:MAX_CHANGE])


def places(text: str, match: re.Match[str]) -> list[tuple[int, int]]:
    """The spans from the one that `match` holds on; of a reversed one, the same lines."""
    ends = [(match[2], match[3])]
    left = text[match.end() :]
    while len(ends) < MAX_EDITS and (more := MORE.match(left)):
        ends.append((more[1], more[2]))
        left = left[more.end() :]
    spans = [(int(first), int(last or first)) for first, last in ends]
    return [(max(1, min(span)), max(1, *span)) for span in spans]


def rest(text: str, match: re.Match[str]) -> str:
    left = text[match.end() :]
    while more := MORE.match(left):
        left = left[more.end() :]
    return left


def followed(plan: Plan, parent: str, child: str) -> bool:
    """Whether the child differs from its parent at a line that the plan names, or by lines put in right beside one."""
    return any(
        first < edit.last and edit.first <= last if last > first else edit.first - 1 <= first <= edit.last
        for first, last in spans(parent, child)
        for edit in plan.edits
    )


def diagnosis(text: str, bottlenecks: Collection[str]) -> Diagnosis | None:
    """The one bottleneck that the `Bottleneck:` lines name; None where they name none of `bottlenecks`, or several."""
    found = fields(text)
    said = [re.sub(r"[\s-]+", "_", field.value.lower()) for field in found if field.label == "bottleneck"]
    named = {name for name in bottlenecks for value in said if re.search(rf"(?<![a-z]){re.escape(name)}(?![a-z])", value)}
    evidence = next((field.text() for field in found if field.label == "evidence"), "")
    return Diagnosis(named.pop(), evidence) if len(named) == 1 else None
