"""A scaffold in one file: ask, judge, and ask again with the verdict in hand, until a candidate passes."""

from dataclasses import dataclass
from functools import partial
from typing import Any, TypedDict


@dataclass
class Config:
    rounds: int = 3
    """Candidates per task."""


class RetryState(TypedDict, total=False):
    last: dict[str, Any] | None
    round: int
    stop: str


async def attempt(config: Config, state: RetryState, runtime: Any) -> RetryState:
    context, last, number = runtime.context, state.get("last"), state.get("round", 0)
    has_code = last is not None and last["kernel"] is not None
    role, options = ("repairer", {"note": ""}) if has_code else ("generator", {"author": 1, "authors": 1})
    brief = context.brief(role, last if has_code else None)
    answer = await context.ask(role, brief, round=number, rounds_left=config.rounds - 1 - number, **options)
    made = await context.evaluate(answer, round=number, parents=[last["id"]] if last else [])
    solved, over = made["verdict"] == "pass", number + 1 == config.rounds
    return {"last": made, "round": number + 1, "stop": "solved" if solved else "rounds" if over else ""}


def build(config: Config) -> Any:
    from langgraph.graph import END, START, StateGraph

    from scaffolds.context import Context

    graph = StateGraph(RetryState, Context)
    graph.add_node("attempt", partial(attempt, config))
    graph.add_edge(START, "attempt")
    graph.add_conditional_edges("attempt", lambda state: END if state["stop"] else "attempt", ["attempt", END])
    return graph
