"""One trajectory: one invocation of a scaffold's graph, ended with a record whatever happens in it."""

import asyncio
import time
import traceback
from dataclasses import asdict
from typing import Any

from agents.budget import BudgetExhausted
from agents.caller import Parked
from agents.recorder import TrajectoryRecord
from benchmark.errors import UserError
from scaffolds import gains, loader
from scaffolds.context import Context, Outage


async def run(name: str, config: Any, context: Context) -> TrajectoryRecord:
    """Runs scaffold `name` on the context's task. The champion is the context's, whatever the graph says.

    Raises what is the user's to mend (UserError, Diverged among them) without a record; cancellation and our own faults after one.
    """
    start = time.time()
    context.recorder.event("trajectory_start", trajectory=context.trajectory, task=context.task.id, scaffold=name, seed=context.seed)
    error: str | None = None
    try:
        end_reason = await invoke(name, config, context)
        error = last_error(context) if end_reason == "error" else context.exhausted or None
    except UserError:
        raise
    except BudgetExhausted as exhausted:
        end_reason, error = "budget", str(exhausted)
    except asyncio.CancelledError:
        await context.recorder.write_trajectory(record(context, start, "interrupted", None))
        raise
    except Parked:
        end_reason, error = "waiting", None
    except Outage as outage:
        end_reason, error = "error", str(outage)
    except Exception:
        await context.recorder.write_trajectory(record(context, start, "error", traceback.format_exc()))
        raise
    ended = record(context, start, end_reason, error)
    await context.recorder.write_trajectory(ended)
    return ended


async def invoke(name: str, config: Any, context: Context) -> str:
    """The graph's end reason; `solved` or `rounds` where a scaffold leaves none."""
    from langgraph.errors import GraphRecursionError

    builder = loader.build(name, config)
    graph = builder.compile(name=name)
    try:
        state = await graph.ainvoke({"stop": ""}, {"recursion_limit": steps(len(builder.nodes), config)}, context=context)
    except GraphRecursionError:
        return "limit"
    return state.get("stop") or ("solved" if context.champion else "rounds")


def steps(nodes: int, config: Any) -> int:
    """Supersteps after which a graph is endless: each node once a round, one round more than asked for, and the start.

    A scaffold whose `rounds` are not how deep it goes says that as `depth`.
    """
    return nodes * (getattr(config, "depth", getattr(config, "rounds", 1)) + 1) + 1


def last_error(context: Context) -> str | None:
    """Why an attempt could not be judged, the newest one, for a scaffold that gives up on a task that is broken."""
    newest = max((name for name, attempt in context.attempts.items() if attempt["verdict"] == "task_invalid"), default=None)
    return context.digest(context.attempts[newest])["message"] if newest else None


def record(context: Context, start: float, end_reason: str, error: str | None) -> TrajectoryRecord:
    champion = context.champion
    return TrajectoryRecord(
        trajectory=context.trajectory,
        task=context.task.id,
        scaffold=context.scaffold,
        model=context.model_name,
        seed=context.seed,
        start=start,
        end=time.time(),
        champion=champion["id"] if champion else None,
        kernel_sha=champion["kernel"] if champion else None,
        end_reason=end_reason,
        error=error,
        totals=totals(context),
    )


def totals(context: Context) -> dict[str, Any]:
    """Sums over all calls of the trajectory, those that belong to no attempt included; `usd` is what is known, `usd_upper` its bound.

    `tuner` is what tuning without a model gained, where there was any.
    """
    spent = context.ledger.total(context.trajectory)
    attempts = context.attempts.values()
    counts = {"attempts": len(attempts), "passed": sum(a["verdict"] == "pass" for a in attempts)}
    return {**asdict(spent), "tokens": spent.tokens, **counts, "tuner": gains.of_tuner(attempts)}
