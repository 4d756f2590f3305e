"""Examples in prompts: found once for a trajectory, and on record before any prompt shows one, for the champions of a run that goes on
depend on the order in which its trajectories end."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agents import retrieval
from agents.models.base import Identity
from benchmark import kernels

if TYPE_CHECKING:
    from scaffolds.context import Context

Source = Literal["none", "kernels", "champions", "both"]
COUNT = 3
"""Examples that are found; authors who work side by side are each shown another one."""


async def find(context: "Context", source: Source, run: str | None) -> None:
    """Chooses the trajectory's examples, unless that is on record. `run`: whose champions, if not this run's own so far."""
    if source != "none" and context.recorder.recorded_choice(place(context)) is None:
        found = retrieval.examples(context.task, sources(context, source, run), COUNT)
        await context.recorder.write_choice(place(context), [asdict(example) for example in found])


def sources(context: "Context", source: Source, run: str | None) -> Mapping[str, str]:
    """Kernels by task; a champion goes before ours."""
    ours = kernels.sources() if source in ("kernels", "both") else {}
    if source == "kernels":
        return ours
    if run is not None:
        return {**ours, **retrieval.champions(Path(run))}
    return {**ours, **{task: context.recorder.kernel(sha) for task, sha in context.recorder.champions().items()}}


def shown(context: "Context", number: int) -> list[dict[str, Any]]:
    """What the prompt of the `number`-th author shows: `{task, source}`, one at most."""
    found = context.recorder.recorded_choice(place(context)) or []
    return [found[number % len(found)]] if found else []


def place(context: "Context") -> Identity:
    return Identity(context.trajectory, "examples", 0)
