"""Runs every scaffold of ours on the scripted parts, small enough for many trajectories."""

from dataclasses import dataclass
from typing import Any

from agents.budget import Limits
from agents.models.base import Request
from agents.recorder import TrajectoryRecord
from scaffolds import loader, trajectory
from scaffolds.context import Context
from tests.scaffolds.scripted import Recorder, Script, TableExecutor, context

OPTIONS: dict[str, dict[str, Any]] = {
    "oneshot": {"samples": 8},
    "geak": {"rounds": 4, "descendants": 3, "patience": 9},
    "multiagent": {"rounds": 5, "patience": 9},
    "evolve": {"queries": 15, "islands": 3, "crossover": 0.5},
    "oneshot by tokens": {"samples": 6, "tokens": 2000},
    "geak reflexion": {"rounds": 4, "variant": "reflexion", "examples": "none"},
    "geak v1": {"rounds": 4, "variant": "v1", "examples": "both"},
    "geak v2": {"rounds": 5, "descendants": 3, "variant": "v2", "debug": 1},
    "multiagent that tires": {"rounds": 6, "seeds": 3, "debug": 1, "patience": 1, "tune": 2},
}
"""Options under which a trajectory takes about a dozen attempts. A label begins with the scaffold's name."""
PLAIN = [label for label in OPTIONS if " " not in label]
"""Each scaffold once."""


@dataclass
class Ran:
    record: TrajectoryRecord
    context: Context

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Attempts in the order of their ids."""
        found: list[dict[str, Any]] = self.context.recorder.lines()  # type: ignore[attr-defined]
        return found

    @property
    def requests(self) -> list[Request]:
        """What the model was asked in this start, tries included."""
        return self.context.caller.model.requests  # type: ignore[attr-defined, no-any-return]

    @property
    def asked(self) -> dict[str, str]:
        """Each request's prompt by its identity. In what order branches ask within a superstep is nobody's promise."""
        return {request.identity.key: request.sha for request in self.requests}

    @property
    def roles(self) -> set[str]:
        return {request.identity.role for request in self.requests}

    @property
    def outcome(self) -> tuple[str | None, str, list[dict[str, Any]]]:
        return self.record.champion, self.record.end_reason, self.lines


async def run(label: str, script: Script, recorder: Recorder | None = None, *, seed: int = 0, jitter: int | None = None,
              limits: Limits | None = None, executor: TableExecutor | None = None) -> Ran:  # fmt: skip
    ctx = context(script, recorder, executor, limits, jitter, seed)
    return Ran(await start(label, ctx), ctx)


async def start(label: str, ctx: Context) -> TrajectoryRecord:
    scaffold = label.partition(" ")[0]
    try:
        return await trajectory.run(scaffold, loader.build_config(scaffold, OPTIONS[label]), ctx)
    finally:
        await ctx.caller.close()
