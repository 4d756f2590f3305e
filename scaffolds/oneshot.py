"""One-shot: k independent samples from the generator, the best of them. The control arm for every other scaffold."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from scaffolds.nodes import Update, hopeless, within_budget
from scaffolds.options import at_least
from scaffolds.state import Attempt, State, merge

if TYPE_CHECKING:
    from langgraph.graph import StateGraph
    from langgraph.runtime import Runtime
    from langgraph.types import Send

    from scaffolds.context import Context


@dataclass
class Config:
    samples: int = 1
    """Independent candidates per task; the best one is the champion."""

    @property
    def batches(self) -> int:
        """What a run needs with `model=batch`: all samples are asked for at once."""
        return 1

    def __post_init__(self) -> None:
        at_least(self, 1, "samples")


class OneshotState(State, total=False):
    made: Annotated[dict[str, Attempt], merge]
    """By sample."""


class Sample(TypedDict):
    number: int
    samples: int


def fan_out(config: Config, _: OneshotState) -> "list[Send]":
    from langgraph.types import Send

    return [Send("generate", Sample(number=number, samples=config.samples)) for number in range(config.samples)]


@within_budget
async def generate(state: Sample, runtime: "Runtime[Context]") -> Update:
    context = runtime.context
    brief = context.brief("generator")
    answer = await context.ask(
        "generator", brief, round=0, sample=state["number"], author=state["number"] + 1, authors=state["samples"], rounds_left=0
    )
    attempt = await context.evaluate(answer, round=0, sample=state["number"])
    return {"made": {str(state["number"]): attempt}}


async def select(state: OneshotState, runtime: "Runtime[Context]") -> Update:
    if runtime.context.champion:
        return {"stop": "solved"}
    return {"stop": hopeless(list(state["made"].values())) or "rounds"}


def build(config: Config) -> "StateGraph[Any, Any, Any, Any]":
    from langgraph.graph import END, START, StateGraph

    from scaffolds.context import Context

    graph = StateGraph(OneshotState, Context)
    graph.add_node("generate", generate)
    graph.add_node("select", select)
    graph.add_conditional_edges(START, partial(fan_out, config), ["generate"])
    graph.add_edge("generate", "select")
    graph.add_edge("select", END)
    return graph
