"""Asks twice with different luck, and lets the champion be the champion; an architect of its own may speak first."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypedDict

from agents import roles

roles.add(roles.Role("architect", "reflection", {"candidates": 2}), Path(__file__).parent / "prompts")


@dataclass
class Config:
    luck: Literal["good", "bad"] = "good"
    """Whether a second candidate is asked for at all."""
    depth: int = 2
    """Candidates."""
    architect: bool = False
    """Whether an architect lays the module out before anybody writes it."""


class TwiceState(TypedDict, total=False):
    made: int
    layout: list[str]
    stop: str


async def lay(config: Config, state: TwiceState, runtime: Any) -> TwiceState:
    context = runtime.context
    if not config.architect:
        return {"layout": []}
    answer = await context.ask("architect", context.brief("architect"), round=0, candidates=config.depth)
    return {"layout": [answer.note] if answer.note else []}


async def ask(config: Config, state: TwiceState, runtime: Any) -> TwiceState:
    context, number = runtime.context, state.get("made", 0)
    brief = context.brief("generator", lessons=state["layout"])
    answer = await context.ask("generator", brief, round=number, author=1, authors=1, rounds_left=config.depth - 1 - number)
    await context.evaluate(answer, round=number)
    return {"made": number + 1, "stop": "rounds" if config.luck == "bad" or number + 1 == config.depth else ""}


def build(config: Config) -> Any:
    from langgraph.graph import END, START, StateGraph

    from scaffolds.context import Context

    graph = StateGraph(TwiceState, Context)
    graph.add_node("lay", partial(lay, config))
    graph.add_node("ask", partial(ask, config))
    graph.add_edge(START, "lay")
    graph.add_edge("lay", "ask")
    graph.add_conditional_edges("ask", lambda state: END if state["stop"] else "ask", ["ask", END])
    return graph
