"""Computation that torch did in place of the candidate's kernels, from the operators that its calls dispatched.

Free at any size: views, allocation, constant fills, casts and copies, and whatever touches one element. Operators that only move
elements (`cat`, `pad`, `gather`) are free unless the reference moves elements by the same operator, or does nothing else; a copy of
a whole argument stays free even then. Everything else is computation, moving elements onto one another (`accumulate`, `reduce`) or out
of a table by an argument's values (`lookup`) too. It counts where all of it in one call is more than a small step, in however many
steps it is taken:

- made from arguments: where it touches at least 1/8 of the elements of the call's largest tensor (arguments and right outputs).
  Arguments that stay below 1/8 in some case (weights, scales, lengths) are no such share: they may be prepared, but not all
  arguments together, and not what a kernel may have put in their copies;
- made from the kernels' own results: where it touches more than half of them, which no sum of partial results does;
- made while the candidate was imported: where the reference uses the same operator, and the candidate's kernels are given the result.

A fallback for one shape works on that shape's own tensors, so it counts however small they are.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tools.executor.aten import ARRIVAL, COPIES, FREE, KERNEL, MOVES, TRANSFER
from tools.executor.channel import Message
from tools.executor.stages import claims

SHARE = 1 / 8
MOST = 0.5
ROWS = 256
UNSEEN = ", where the record of its calls cannot see it"


@dataclass
class Row:
    """Calls of one operator on the same arguments in one case. `largest` is the size of the largest tensor that it touched."""

    op: str
    names: frozenset[str]
    plain: bool
    calls: int
    largest: int
    elements: int
    launched: bool = False
    """Whether a kernel may have written what it works on."""
    where: str = ""
    """Where it ran, if not in plain sight of the call."""


@dataclass
class Tried:
    """A case: the operators of the candidate's calls, and what the judge knows of it."""

    case: Message
    largest: int
    sizes: dict[str, int]
    """Elements of each argument; of lists of tensors, of all together."""
    moves: frozenset[str]
    """Operators of the reference that move or copy elements, where they are what is asked for."""
    operators: frozenset[str]
    """All operators of the reference, views apart."""
    called: list[list[Row]] = field(default_factory=list)
    """Of each call."""

    @property
    def rows(self) -> Iterator[Row]:
        return (row for rows in self.called for row in rows)


class TorchWork:
    def __init__(self) -> None:
        self.cases: dict[str, Tried] = {}

    def note(self, case: Message, layout: Message, check: Message, answer: Message) -> None:
        """One call of the candidate: `layout` and `check` are the judge's answers, `answer` the sandbox's."""
        names = [str(name) for name, _ in layout["tensors"]]
        sizes: dict[str, int] = {}
        for name, size in layout["tensors"]:
            sizes[name] = sizes.get(name, 0) + size
        tried = Tried(case, max(1, check["largest"]), sizes, frozenset(check["moves"]), frozenset(check["operators"]))
        tried = self.cases.setdefault(case["name"], tried)
        tables, rows = _tables(answer.get("tables"), tried.operators), _rows(answer, names)
        tried.called.append([*tables, *rows, *_unseen(answer.get("unseen"), names)])

    def computed(self) -> tuple[Message, Row] | None:
        """The first case, visible ones first, with an operator that computes in place of a kernel."""
        minor = self._minor()
        for tried in sorted(self.cases.values(), key=lambda t: bool(t.case["held_out"])):
            for rows in tried.called:
                if found := _share(rows, tried, minor):
                    return tried.case, max(found, key=lambda row: row.elements)
        return None

    def summary(self) -> list[dict[str, Any]]:
        """As in `Evaluation.torch_work`, of the visible cases alone."""
        minor = self._minor()
        total: dict[str, dict[str, Any]] = {}
        for tried in (t for t in self.cases.values() if not t.case["held_out"]):
            counted = {id(row) for rows in tried.called for row in _share(rows, tried, minor)}
            for row in tried.rows:
                entry = total.setdefault(row.op, {"op": row.op, "calls": 0, "elements": 0, "compute": False})
                entry["calls"] += row.calls
                entry["elements"] += row.elements
                entry["compute"] |= id(row) in counted
        return sorted(total.values(), key=lambda entry: (not entry["compute"], -entry["elements"]))[:ROWS]

    def _minor(self) -> frozenset[str]:
        """Arguments that are small beside others in some case."""
        return frozenset(name for tried in self.cases.values() for name, size in tried.sizes.items() if 0 < size < SHARE * tried.largest)


def _share(rows: Iterable[Row], tried: Tried, minor: frozenset[str]) -> list[Row]:
    """The operators of one call that together are more than a small step."""
    rows = [row for row in rows if not (row.op in FREE or (row.op in COPIES | MOVES and not _asked(row, tried)))]
    given = [row for row in rows if row.names - minor or (row.names and row.names == set(tried.sizes))]
    made = [row for row in rows if row not in given and not _prepares(row, tried)]
    found = given if sum(row.elements for row in given) >= SHARE * tried.largest else []
    return found + made if sum(row.elements for row in made) > MOST * tried.largest else found


def _prepares(row: Row, tried: Tried) -> bool:
    """Whether it works on small arguments alone, and makes no more of them."""
    return bool(row.names) and not row.launched and row.largest <= max(tried.sizes[name] for name in row.names)


def _asked(row: Row, tried: Tried) -> bool:
    """Whether moving elements as `row` does is the task."""
    return not row.plain and row.op in tried.moves


def _rows(answer: Message, names: list[str]) -> Iterable[Row]:
    """The sandbox's rows, those of the answer and those told on the way to it: of each kind the largest."""
    found: dict[Any, Row] = {}
    for claim in (answer.get("torch"), answer.get("told")):
        for row in _formed(claim, names):
            key = (row.op, row.names, row.plain, row.launched)
            found[key] = max(row, found.get(key, row), key=lambda row: row.elements)
    return found.values()


def _formed(claim: Any, names: list[str]) -> Iterable[Row]:
    """Rows cut to the expected form; what has it not counts for nothing."""
    rows = claim if isinstance(claim, list) else []
    for row in rows:
        if not isinstance(row, list) or len(row) != 6 or not isinstance(row[1], list):
            continue
        op, sources, plain, calls, largest, elements = row
        used = frozenset(names[i] for i in sources if type(i) is int and 0 <= i < len(names))
        name, launched = claims.text(op)[:80], KERNEL in sources
        yield Row(name, used, plain is True, claims.count(calls), claims.count(largest), claims.count(elements), launched)


def _tables(claim: Any, operators: frozenset[str]) -> Iterable[Row]:
    """What torch computed at import and kernels are given, where it is what the reference computes."""
    for row in claim if isinstance(claim, list) else []:
        if isinstance(row, list) and len(row) == 2 and (op := claims.text(row[0])[:80]) in operators:
            yield Row(op, frozenset(), False, 1, claims.count(row[1]), claims.count(row[1]), where=" at import")


def _unseen(claim: Any, names: list[str]) -> Iterable[Row]:
    """The profiler's rows of what no mode was shown: nobody knows what it worked on, so it counts as work on all arguments."""
    for row in (claim if isinstance(claim, list) else [])[:ROWS]:
        if isinstance(row, list) and len(row) == 3:
            op, calls, largest = claims.text(row[0])[:80], claims.count(row[1]), claims.count(row[2])
            if largest > 1 and op not in FREE:
                yield Row(op, frozenset(names), True, calls, largest, calls * largest, where=UNSEEN)


def words(row: Row) -> str:
    """How such an operator is called in messages."""
    crossed = {TRANSFER: "values are taken to the host", ARRIVAL: "values are brought from the host"}
    return crossed.get(row.op, f"torch computes `{row.op}`{row.where}")
