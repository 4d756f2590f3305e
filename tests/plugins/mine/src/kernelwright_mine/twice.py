"""Asks twice with different luck, and lets the champion be the champion."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypedDict


@dataclass
class Config:
    luck: Literal["good", "bad"] = "good"
    """Whether a second candidate is asked for at all."""
    depth: int = 2
    """Candidates."""


class TwiceState(TypedDict, total=False):
    made: int
    stop: str


async def ask(config: Config, state: TwiceState, runtime: Any) -> TwiceState:
    context, number = runtime.context, state.get("made", 0)
    brief = context.brief("generator")
    answer = await context.ask("generator", brief, round=number, author=1, authors=1, rounds_left=config.depth - 1 - number)
    await context.evaluate(answer, round=number)
    return {"made": number + 1, "stop": "rounds" if config.luck == "bad" or number + 1 == config.depth else ""}


def build(config: Config) -> Any:
    from langgraph.graph import END, START, StateGraph

    from scaffolds.context import Context

    graph = StateGraph(TwiceState, Context)
    graph.add_node("ask", partial(ask, config))
    graph.add_edge(START, "ask")
    graph.add_conditional_edges("ask", lambda state: END if state["stop"] else "ask", ["ask", END])
    return graph
