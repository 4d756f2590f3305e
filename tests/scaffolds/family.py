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
    "oneshot": {"samples": 4},
    "geak": {"rounds": 4, "descendants": 3, "patience": 9},
    "evolve": {"queries": 15, "islands": 3, "crossover": 0.5},
}
"""Scaffolds, and options under which a trajectory takes about a dozen attempts."""


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
    def roles(self) -> set[str]:
        return {request.identity.role for request in self.requests}

    @property
    def outcome(self) -> tuple[str | None, str, list[dict[str, Any]]]:
        return self.record.champion, self.record.end_reason, self.lines


async def run(name: str, script: Script, recorder: Recorder | None = None, *, seed: int = 0, jitter: int | None = None,
              limits: Limits | None = None, executor: TableExecutor | None = None) -> Ran:  # fmt: skip
    ctx = context(script, recorder, executor, limits, jitter, seed)
    return Ran(await start(name, ctx), ctx)


async def start(name: str, ctx: Context) -> TrajectoryRecord:
    try:
        return await trajectory.run(name, loader.build_config(name, OPTIONS[name]), ctx)
    finally:
        await ctx.caller.close()
