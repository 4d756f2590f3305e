"""What a run shows while it goes: a live table on a terminal, plain lines elsewhere. Fed by recorder events only."""

import os
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from experiments.records import geomean
from experiments.words import clock, count, usd


@dataclass
class Row:
    """A trajectory that is running."""

    label: str
    started: float
    round: int = 0
    attempts: int = 0
    verdict: str = ""
    doing: str = "starting"


@dataclass
class Progress:
    """Counts over all runs of this start, from events. `asked` is the number of trajectories."""

    asked: int
    started: float = field(default_factory=time.time)
    rows: dict[str, Row] = field(default_factory=dict)
    ended: dict[str, dict[str, Any]] = field(default_factory=dict)
    compiled: set[str] = field(default_factory=set)
    speedups: dict[tuple[str, str], float | None] = field(default_factory=dict)
    tokens: int = 0
    usd: float = 0.0
    unknown: int = 0
    unpriced: int = 0
    before: int = 0
    """Trajectories that had ended before this start."""

    def take(self, name: str, fields: dict[str, Any]) -> None:
        """One event. `fields["key"]` names the trajectory among all runs of this start."""
        key = fields.get("key", "")
        if name == "trajectory_start":
            self.rows[key] = Row(key, time.time())
        elif name == "call":
            self.tokens += fields["tokens"] or 0
            self.usd += fields["cost_usd"] or 0.0
            self.unknown += fields["tokens"] is None
            self.unpriced += fields["cost_usd"] is None
        elif name == "attempt":
            self.attempt(key, fields)
        elif name == "trajectory":
            self.rows.pop(key, None)
            if fields["end_reason"] != "waiting":
                self.ended[key] = fields
        if key in self.rows:
            self.rows[key].round = max(self.rows[key].round, fields.get("round") or 0)
            self.rows[key].doing = doing(name, fields) or self.rows[key].doing

    def attempt(self, key: str, fields: dict[str, Any]) -> None:
        if fields["compiled"]:
            self.compiled.add(key)
        self.speedups[key, fields["attempt"]] = fields["speedup"]
        if key in self.rows:
            self.rows[key].attempts += 1
            self.rows[key].verdict = fields["verdict"]

    @property
    def correct(self) -> int:
        return sum(t["champion"] is not None for t in self.ended.values())

    def summary(self) -> str:
        solved = [self.speedups.get((key, t["champion"])) for key, t in self.ended.items() if t["champion"]]
        mean = geomean(s for s in solved if s is not None)
        return "  ".join(
            (
                f"{len(self.ended)}/{self.asked} done",
                f"{self.correct} correct",
                f"{len(self.compiled)} compiled",
                f"speedup {f'{mean:.2f}x' if mean else '-'}",
                f"{count(self.tokens, self.unknown)} tokens",
                usd(self.usd, self.unpriced),
                f"ETA {self.eta()}",
            )
        )

    def eta(self) -> str:
        done = len(self.ended) - self.before
        left = self.asked - len(self.ended)
        return clock((time.time() - self.started) / done * left) if done else "-"


def doing(name: str, fields: dict[str, Any]) -> str:
    """What a trajectory does after an event, as far as events tell."""
    if name == "call":
        return f"{fields['role']}: {'answered' if fields['outcome'] == 'ok' else fields['outcome']}"
    if name == "ask":
        return f"{fields['role']}: asked"
    return {"judge": "being judged", "evaluation": "judged", "attempt": "judged", "champion": "new best"}.get(name, "")


class Screen(Console):
    """A console that a run does not depend on: when its reader leaves (`2>&1 | head`), the run goes on unseen."""

    def on_broken_pipe(self) -> None:
        self.quiet = True
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stderr.fileno())
        os.close(nowhere)


class LiveView:
    """A table that is drawn anew several times a second; nothing of it stays on the screen but the last state."""

    def __init__(self, progress: Progress, console: Console):
        self.progress = progress
        self.live = Live(console=console, get_renderable=self.draw, refresh_per_second=4, transient=True)

    def __enter__(self) -> "LiveView":
        self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Gives the terminal back."""
        self.live.stop()

    def take(self, name: str, fields: dict[str, Any]) -> None:
        self.progress.take(name, fields)

    def say(self, text: str) -> None:
        self.live.console.print(text, markup=False, highlight=False)

    def draw(self) -> Group:
        table = Table(box=None, padding=(0, 2, 0, 0))
        for title in ("running", "round", "attempts", "last verdict", "doing", "time"):
            table.add_column(title, justify="right" if title in ("round", "attempts", "time") else "left")
        for row in self.progress.rows.values():
            spent = clock(time.time() - row.started)
            table.add_row(Text(row.label), str(row.round), str(row.attempts), row.verdict or "-", row.doing, spent)
        return Group(Text(self.progress.summary(), style="bold"), table)


class PlainView:
    """One line per ended trajectory, and one per attempt, for logs and pipes."""

    def __init__(self, progress: Progress, console: Console):
        self.progress = progress
        self.console = console

    def __enter__(self) -> "PlainView":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def take(self, name: str, fields: dict[str, Any]) -> None:
        row = self.progress.rows.get(fields.get("key", ""))
        self.progress.take(name, fields)
        if row is None:
            return
        if name == "call" and fields["error"]:
            self.say(f"{row.label} {fields['role']} try {fields['try']}: {fields['outcome']}: {fields['error']}"[:240])
        elif name == "fork":
            self.say(f"{row.label} {fields['role']}/{fields['round']} differs from what is on record: on under fork {fields['fork']}")
        elif name == "attempt":
            speedup = f" {fields['speedup']:.2f}x" if fields["speedup"] is not None else ""
            error = f": {fields['error']}" if fields["error"] else ""
            self.say(f"{row.label} {fields['attempt']} {fields['role']} {fields['verdict']}{speedup}{error}"[:240])
        elif name == "trajectory" and fields["end_reason"] == "waiting":
            self.say(f"{row.label} waits for a batch | {self.progress.summary()}")
        elif name == "trajectory":
            verdict = "solved" if fields["champion"] else "not solved"
            error = f": {fields['error'].strip().splitlines()[-1]}"[:240] if fields["error"] else ""
            self.say(f"{row.label} {verdict} ({fields['end_reason']}{error}) | {self.progress.summary()}")


View = LiveView | PlainView


def view(progress: Progress, console: Console) -> View:
    return LiveView(progress, console) if console.is_terminal else PlainView(progress, console)
