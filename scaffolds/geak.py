"""GEAK-style refinement: generator, cascaded evaluation, reflector, repair, and an optimiser over a pool of ancestors.

A round is one candidate per lineage. A lineage whose candidate fails is reflected on and repaired, at most `debug` times in a
row, and then starts anew with the lessons kept. One whose candidate passes goes on from the pool, the best of all lineages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from scaffolds.nodes import Update, hopeless, within_budget
from scaffolds.options import at_least
from scaffolds.rank import pace, pooled
from scaffolds.state import Attempt, State, merge

if TYPE_CHECKING:
    from langgraph.graph import StateGraph
    from langgraph.runtime import Runtime
    from langgraph.types import Send

    from agents.models.base import Brief
    from scaffolds.context import Context


@dataclass
class Config:
    rounds: int = 5
    """Candidates per lineage."""
    descendants: int = 2
    """Lineages that are developed side by side."""
    debug: int = 3
    """Repairs of one lineage in a row, before it starts anew."""
    ancestors: int = 3
    """Passing candidates that the optimiser is shown, the best ones."""
    lessons: int = 6
    """The newest lessons of the reflector that later prompts keep."""
    patience: int = 3
    """Rounds without a gain after which the search ends."""
    noise: float = 0.02
    """Relative gain of the best speedup below which a round counts as without one."""

    @property
    def batches(self) -> int:
        """What a run needs at most with `model=batch`: authors and reflectors in turn, and nothing to reflect on after the last round."""
        return 2 * self.rounds - 1

    def __post_init__(self) -> None:
        at_least(self, 1, "rounds", "descendants", "ancestors", "patience")
        at_least(self, 0, "debug", "lessons", "noise")


class Lineage(TypedDict):
    last: Attempt | None
    repairs: int
    """In a row."""
    note: str
    """The reflector's, on `last`."""
    lesson: str


class GeakState(State, total=False):
    round: int
    lineages: Annotated[dict[str, Lineage], merge]
    """By number, as text."""
    pool: list[Attempt]
    lessons: list[str]
    best: float | None
    """The speed that a gain is measured from."""
    stale: int
    """Rounds since the last gain."""


class Branch(TypedDict):
    """What one lineage's node works from."""

    round: int
    number: int
    lineage: Lineage
    pool: list[Attempt]
    lessons: list[str]
    rounds_left: int
    authors: int


async def plan(config: Config, state: GeakState, runtime: "Runtime[Context]") -> Update:
    """Opens a round; lessons of the last one are kept, in the order of lineages."""
    if state["stop"]:
        return {}
    if "round" not in state:
        empty = {str(n): Lineage(last=None, repairs=0, note="", lesson="") for n in range(config.descendants)}
        return {"round": 0, "lineages": empty, "pool": [], "lessons": [], "best": None, "stale": 0}
    learnt = [state["lineages"][str(n)]["lesson"] for n in range(config.descendants)]
    lessons = list(dict.fromkeys([*state["lessons"], *(lesson for lesson in learnt if lesson)]))
    return {"round": state["round"] + 1, "lessons": lessons[max(0, len(lessons) - config.lessons) :]}


def branch(config: Config, state: GeakState, number: int) -> Branch:
    return Branch(
        round=state["round"],
        number=number,
        lineage=state["lineages"][str(number)],
        pool=state["pool"],
        lessons=state["lessons"],
        rounds_left=config.rounds - 1 - state["round"],
        authors=config.descendants,
    )


def to_authors(config: Config, state: GeakState) -> "list[Send] | str":
    from langgraph.graph import END
    from langgraph.types import Send

    if state["stop"]:
        return END
    branches = [branch(config, state, n) for n in range(config.descendants)]
    return [Send(author(config, b["lineage"], b["pool"]), b) for b in branches]


def author(config: Config, lineage: Lineage, pool: list[Attempt]) -> str:
    """The node that writes a lineage's next candidate."""
    if repairable(lineage["last"]) and lineage["repairs"] < config.debug:
        return "repair"
    return "optimise" if pool else "generate"


def repairable(last: Attempt | None) -> bool:
    return last is not None and last["kernel"] is not None and last["verdict"] not in ("pass", "task_invalid")


@within_budget
async def generate(state: Branch, runtime: "Runtime[Context]") -> Update:
    brief = runtime.context.brief("generator", lessons=state["lessons"])
    return grown(state, await write(runtime.context, state, brief, author=state["number"] + 1, authors=state["authors"]))


@within_budget
async def repair(state: Branch, runtime: "Runtime[Context]") -> Update:
    lineage = state["lineage"]
    assert lineage["last"] is not None
    brief = runtime.context.brief("repairer", lineage["last"], lessons=state["lessons"])
    attempt = await write(runtime.context, state, brief, (lineage["last"],), note=lineage["note"])
    if attempt["kernel"] is None and not attempt["declined"]:  # The code to repair is still the last there is.
        return {"lineages": {str(state["number"]): {**lineage, "repairs": lineage["repairs"] + 1, "lesson": ""}}}
    return grown(state, attempt, lineage["repairs"] + 1)


@within_budget
async def optimise(state: Branch, runtime: "Runtime[Context]") -> Update:
    brief = runtime.context.brief("optimiser", ancestors=state["pool"], lessons=state["lessons"])
    last = state["lineage"]["last"]
    note = state["lineage"]["note"] if last and last["verdict"] == "pass" else ""
    others = {"author": state["number"] + 1, "authors": state["authors"]}
    return grown(state, await write(runtime.context, state, brief, state["pool"], note=note, **others))


async def write(context: "Context", state: Branch, brief: "Brief", parents: Sequence[Attempt] = (), **variables: Any) -> Attempt:
    """One candidate of a lineage, judged."""
    round, number = state["round"], state["number"]
    answer = await context.ask(brief.role, brief, round=round, lineage=number, rounds_left=state["rounds_left"], **variables)
    return await context.evaluate(answer, round=round, lineage=number, parents=[p["id"] for p in parents])


def grown(state: Branch, attempt: Attempt, repairs: int = 0) -> Update:
    return {"lineages": {str(state["number"]): Lineage(last=attempt, repairs=repairs, note="", lesson="")}}


async def select(config: Config, state: GeakState, runtime: "Runtime[Context]") -> Update:
    """Closes a round: the pool, the progress, and whether the search ends."""
    arrived = [made["last"] for made in state["lineages"].values() if made["last"] and made["last"]["round"] == state["round"]]
    pool = pooled(state["pool"], arrived, config.ancestors)
    speed = pace(pool[0]) if pool else None
    gained = speed is not None and (state["best"] is None or speed > state["best"] * (1 + config.noise))
    stale = 0 if gained or speed is None else state["stale"] + 1
    return {
        "pool": pool,
        "best": speed if gained else state["best"],
        "stale": stale,
        "stop": stop(config, state["round"], pool, arrived, stale),
    }


def stop(config: Config, round: int, pool: list[Attempt], arrived: list[Attempt], stale: int) -> str:
    """The end reason, or nothing. Without a measured or modelled speed there is nothing to improve on after the first pass."""
    if pool and pace(pool[0]) is None:
        return "solved"
    if not pool and (reason := hopeless(arrived)):
        return reason
    if round + 1 >= config.rounds:
        return "rounds"
    return "stagnation" if stale >= config.patience else ""


def to_reflection(config: Config, state: GeakState) -> "list[Send] | str":
    from langgraph.graph import END
    from langgraph.types import Send

    if state["stop"]:
        return END
    branches = [branch(config, state, n) for n in range(config.descendants)]
    return [Send("reflect", b) for b in branches if instructive(b["lineage"]["last"]) and not b["lineage"]["note"]] or "plan"


def instructive(last: Attempt | None) -> bool:
    """Whether there is code, and a failure or a speed to reflect on."""
    return repairable(last) or (last is not None and last["verdict"] == "pass" and pace(last) is not None)


@within_budget
async def reflect(state: Branch, runtime: "Runtime[Context]") -> Update:
    brief = runtime.context.brief("reflector", state["lineage"]["last"], lessons=state["lessons"])
    answer = await runtime.context.ask("reflector", brief, round=state["round"], lineage=state["number"])
    return {"lineages": {str(state["number"]): {**state["lineage"], "note": answer.note, "lesson": answer.lesson}}}


def build(config: Config) -> "StateGraph[Any, Any, Any, Any]":
    from langgraph.graph import END, START, StateGraph

    from scaffolds.context import Context

    graph = StateGraph(GeakState, Context)
    graph.add_node("plan", partial(plan, config))
    for node in (generate, repair, optimise, reflect):
        graph.add_node(node.__name__, node)
    graph.add_node("select", partial(select, config))
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", partial(to_authors, config), ["generate", "repair", "optimise", END])
    for name in ("generate", "repair", "optimise"):
        graph.add_edge(name, "select")
    graph.add_conditional_edges("select", partial(to_reflection, config), ["reflect", "plan", END])
    graph.add_edge("reflect", "plan")
    return graph
