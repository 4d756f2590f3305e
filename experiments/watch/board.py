"""What is known of a run, from its records and the events of its log."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from experiments.records import KINDS, standing
from experiments.runs import PAUSED, Run, task_of, trajectory_id
from experiments.watch.tail import Batch

Record = dict[str, Any]
LIMITS = ("tokens", "usd", "evaluations", "gpu_s", "wall_s")


@dataclass(frozen=True)
class Call:
    """One try of a call; None is unknown, and `tokens_upper`, `usd_upper` count against budgets then."""

    id: str
    role: str
    round: int
    outcome: str
    error: str | None
    prompt: str
    reply: str | None
    tokens: int | None
    tokens_upper: int
    usd: float | None
    usd_upper: float

    @classmethod
    def of(cls, record: Record) -> "Call":
        usage, usd = record["usage"], record["cost_usd"]
        tokens = sum(usage[kind] for kind in KINDS) if usage else None
        return cls(
            record["call_id"], record["identity"]["role"], record["identity"]["round"], record["outcome"], record["error"],
            record["prompt_sha"], record["reply_sha"], tokens, max(tokens or 0, record["tokens_upper"] or 0),
            usd, record["cost_upper"] or 0.0 if usd is None else usd,
        )  # fmt: skip


@dataclass
class Spent:
    """Sums over tries and attempts. The unknown ones are counted, and are in the upper ends only."""

    tokens: int = 0
    tokens_unknown: int = 0
    usd: float = 0.0
    usd_unknown: int = 0
    upper: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LIMITS[:-1], 0.0))

    def call(self, call: Call) -> None:
        self.tokens += call.tokens or 0
        self.tokens_unknown += call.tokens is None
        self.usd += call.usd or 0.0
        self.usd_unknown += call.usd is None
        self.upper["tokens"] += call.tokens_upper
        self.upper["usd"] += call.usd_upper

    def attempt(self, record: Record) -> None:
        self.upper["evaluations"] += record["kernel_sha"] is not None
        self.upper["gpu_s"] += record["gpu_s"]

    def left(self, budget: Mapping[str, Any], wall_s: float) -> dict[str, float]:
        """Of each limit that is set, what is not used up; what is reserved for steps under way is not known."""
        used = {**self.upper, "wall_s": wall_s}
        return {name: max(0.0, budget[name] - used[name]) for name in LIMITS if budget.get(name) is not None}


@dataclass
class Row:
    """A trajectory that was asked for."""

    name: str
    task: str
    seed: int
    ended: Record | None = None
    node: str = ""
    role: str = ""
    round: int | None = None
    started: float | None = None
    attempts: dict[str, Record] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    last: Record | None = None
    best: Record | None = None
    spent: Spent = field(default_factory=Spent)
    stopped: bool = False
    """It was under way in a start of the run that left no word on it."""

    @property
    def state(self) -> str:
        """`asked`, `running`, `stopped`, or the reason that it ended for."""
        if self.ended:
            return str(self.ended["end_reason"])
        return "asked" if self.started is None else "stopped" if self.stopped else "running"

    @property
    def group(self) -> str:
        if self.state in PAUSED:
            return "stopped"
        return self.state if self.state in ("asked", "running", "stopped") else "ended"

    @property
    def doing(self) -> str:
        """The graph's node, and who is asked in it. Of branches side by side the one that began last."""
        return "/".join(part for part in (self.node, self.role) if part) if self.state == "running" else ""

    def seconds(self, now: float) -> float | None:
        if self.ended:
            return float(self.ended["end"] - self.ended["start"])
        return None if self.started is None else max(0.0, now - self.started)

    def tries(self, call_id: str) -> list[Call]:
        return [call for call in self.calls if call.id == call_id]


class Board:
    """Takes batches; everything else reads. Belongs to one thread."""

    def __init__(self, run: Run):
        self.run = run
        self.rows = {trajectory_id(task, seed): Row(trajectory_id(task, seed), task, seed) for task, seed in run.asked}
        self.budget: Record = run.config.get("budget") or {}
        self.spent = Spent()
        self.running = False
        self.created = float(run.environment["created"])
        self.sessions: list[list[float]] = []
        """First and last event of each start."""
        self.changed: set[str] = set()

    def take(self, batch: Batch) -> None:
        if self.running and not batch.running:
            self.halt()
        self.running = batch.running
        for record in batch.calls:
            self.call(record)
        for record in batch.attempts:
            self.attempt(record)
        for event in batch.events:
            self.event(event)
        for record in batch.trajectories:
            row = self.row(record["trajectory"])
            row.ended = record if row.started is None or record["end"] >= row.started else row.ended
        if batch.last and self.sessions:
            self.sessions[-1][1] = moment(batch.last)
        if not batch.running and not batch.more:
            self.halt()

    def row(self, name: str) -> Row:
        self.changed.add(name)
        if name not in self.rows:
            self.rows[name] = Row(name, task_of(name), int(name.rpartition("@")[2] or 0))
        return self.rows[name]

    def call(self, record: Record) -> None:
        row, call = self.row(record["identity"]["trajectory"]), Call.of(record)
        row.calls.append(call)
        row.spent.call(call)
        self.spent.call(call)

    def attempt(self, record: Record) -> None:
        row = self.row(record["trajectory"])
        row.attempts[record["attempt"]] = row.last = record
        row.spent.attempt(record)
        self.spent.attempt(record)
        row.round = max(row.round or 0, record["round"])
        if record["verdict"] == "pass" and (row.best is None or standing(record) > standing(row.best)):
            row.best = record

    def event(self, event: Record) -> None:
        name, at = event["event"], moment(event["timestamp"])
        if name == "start":
            self.halt()
            self.sessions.append([at, at])
            return
        row = self.row(event["trajectory"])
        if name == "trajectory_start":
            row.started, row.ended, row.stopped, row.node, row.role = at, None, False, "", ""
        elif name == "node":
            row.node, row.role = event["node"], ""
        elif name == "ask":
            row.role, row.round = event["role"], max(row.round or 0, event["round"])
        elif name == "judge":
            row.role = "executor"

    def halt(self) -> None:
        """Nothing is under way any more."""
        for row in self.rows.values():
            if row.state == "running":
                row.stopped = True
                self.changed.add(row.name)

    @property
    def state(self) -> str:
        """`running`, `interrupted` where a trajectory has not come to its end, `waiting for a batch`, or `finished`."""
        if self.running:
            return "running"
        states = {row.state for row in self.rows.values()}
        if states & {"asked", "stopped", "interrupted"}:
            return "interrupted"
        return "waiting for a batch" if "waiting" in states else "finished"

    def now(self, clock: float) -> float:
        """The present of a run that goes on, and of another one its last event."""
        return clock if self.running or not self.sessions else self.sessions[-1][1]

    def seconds(self, clock: float) -> float:
        """How long the run was under way, over all its starts."""
        ends = [*(end for _, end in self.sessions[:-1]), self.now(clock)]
        return math.fsum(max(0.0, end - begin) for (begin, _), end in zip(self.sessions, ends, strict=False))

    def ended(self) -> Iterable[Row]:
        return (row for row in self.rows.values() if row.group == "ended")

    def best(self) -> Row | None:
        """The row of the highest speedup, measured ones before modelled."""
        found = [row for row in self.rows.values() if row.best]
        return max(found, key=lambda row: standing(row.best or {}), default=None)


def moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
