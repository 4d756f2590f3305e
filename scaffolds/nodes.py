"""What nodes of several scaffolds share."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agents.budget import BudgetExhausted
from scaffolds.state import Attempt

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from scaffolds.context import Context

Update = dict[str, Any]
"""What a node changes in the state."""
Node = TypeVar("Node", bound=Callable[..., Awaitable[Update]])


def hopeless(attempts: Sequence[Attempt]) -> str:
    """The end reason where no further attempt can do better: all declined, or the task itself is broken; else nothing."""
    if attempts and all(a["declined"] for a in attempts):
        return "declined"
    return "error" if attempts and all(a["verdict"] == "task_invalid" for a in attempts) else ""


def roofline_share(digest: Mapping[str, Any]) -> float | None:
    """The share of what the device's peaks allow that a candidate reached at the largest timed size, as its profile or its timing says.

    None where neither was measured.
    """
    profiled = [size["roofline_share"] for size in digest.get("roofline") or () if size["roofline_share"] is not None]
    timed = [size["floor_us"] / size["candidate_us"] for size in digest["sizes"] if size.get("floor_us")]
    return (profiled or timed or [None])[-1]


def within_budget(node: Node) -> Node:
    """The node, with a used-up budget as the reason to stop: raised, it would cancel the siblings of its superstep."""

    name = getattr(node, "func", node).__name__

    @wraps(node)
    async def guarded(state: Any, runtime: "Runtime[Context]") -> Update:
        runtime.context.recorder.event("node", trajectory=runtime.context.trajectory, node=name)
        try:
            return await node(state, runtime)
        except BudgetExhausted as exhausted:
            context = runtime.context
            context.exhausted = str(exhausted)
            context.recorder.event("budget", trajectory=context.trajectory, kind=exhausted.kind, message=str(exhausted))
            return {"stop": "budget"}

    return cast(Node, guarded)
