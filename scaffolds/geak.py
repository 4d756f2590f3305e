"""GEAK-style refinement: generator, cascaded evaluation, reflector, repair, and an optimiser over a pool of ancestors.

A round is one candidate per lineage. A lineage whose candidate fails is reflected on and repaired, at most `debug` times in a
row, and then starts anew with the lessons kept. One whose candidate passes goes on from the pool, the best of all lineages.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

from agents import retrieval
from benchmark.errors import UserError
from scaffolds import ancestors, examples
from scaffolds.examples import Source
from scaffolds.lineages import VARIANTS, Lineage, Rules, empty, given_up, instructive, passes, repairable
from scaffolds.nodes import Update, hopeless, roofline_share, within_budget
from scaffolds.options import at_least
from scaffolds.rank import pace
from scaffolds.state import Attempt, State, merge
from scaffolds.tuning import tune

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
    alike: int = 2
    """Of them, at most so many of one family of strategies."""
    lessons: int = 6
    """The newest lessons of the reflector that later prompts keep."""
    correctness: float = 0.4
    """Share of its rounds that a lineage may spend until something passes; one candidate and its repairs at least. The rest, and what it
    leaves, is for speed."""
    patience: int = 3
    """Rounds without a gain after which the search ends."""
    noise: float = 0.02
    """Relative gain of the best speedup below which a round counts as without one."""
    roofline: float = 0.95
    """Share of what the device's peaks allow at the largest size from which on the search ends, where it is measured."""
    tune: int = 0
    """Variants of the champion's launch parameters that are judged at the end, without the model."""
    examples: Source = "kernels"
    """Verified kernels of other operators that prompts show: ours, champions of this run, both, or none."""
    examples_from: str | None = None
    """A run directory whose champions are meant, instead of this run's."""
    variant: Literal["full", "reflexion", "v1", "v2"] = "full"
    """Rules of a published GEAK, for ablations."""

    @property
    def rules(self) -> Rules:
        return VARIANTS[self.variant]

    @property
    def batches(self) -> int:
        """What a run needs at most with `model=batch`: authors and reflectors in turn, and nothing to reflect on after the last round."""
        return 2 * self.rounds - 1

    @property
    def correct_rounds(self) -> int:
        """Rounds until something has to pass."""
        share = max(math.ceil(self.correctness * self.rounds), self.debug + 1)
        return min(share, self.rounds) if self.rules.budgets else self.rounds

    def __post_init__(self) -> None:
        at_least(self, 1, "rounds", "descendants", "ancestors", "alike", "patience")
        at_least(self, 0, "debug", "lessons", "noise", "correctness", "roofline", "tune")
        if self.correctness > 1:
            raise UserError(f"scaffold.correctness is a share of the rounds, at most 1, not {self.correctness}.")
        if self.examples_from is not None:
            if self.examples not in ("champions", "both"):
                raise UserError(f"scaffold.examples_from needs scaffold.examples=champions or both, not {self.examples}.")
            retrieval.champions(Path(self.examples_from))


class GeakState(State, total=False):
    round: int
    lineages: Annotated[dict[str, Lineage], merge]
    """By number, as text."""
    pool: list[Attempt]
    lessons: list[str]
    best: float | None
    """The speed that a gain is measured from."""
    tried: list[str]
    """The newest steps from the pool that led to nothing."""
    stale: int
    """Rounds since the last gain."""


class Branch(TypedDict):
    """What one lineage's node works from."""

    round: int
    number: int
    lineage: Lineage
    pool: list[Attempt]
    lessons: list[str]
    tried: list[str]
    rounds_left: int
    authors: int
    diverse: bool


async def retrieve(config: Config, state: GeakState, runtime: "Runtime[Context]") -> Update:
    await examples.find(runtime.context, config.examples, config.examples_from)
    return {}


async def plan(config: Config, state: GeakState, runtime: "Runtime[Context]") -> Update:
    """Opens a round; lessons of the last one are kept, in the order of lineages."""
    if state["stop"]:
        return {}
    if "round" not in state:
        lineages = {str(n): empty() for n in range(config.descendants)}
        return {"round": 0, "lineages": lineages, "pool": [], "lessons": [], "tried": [], "best": None, "stale": 0}
    learnt = [state["lineages"][str(n)]["lesson"] for n in range(config.descendants)] if config.rules.lessons else []
    lessons = list(dict.fromkeys([*state["lessons"], *(lesson for lesson in learnt if lesson)]))
    return {"round": state["round"] + 1, "lessons": lessons[max(0, len(lessons) - config.lessons) :]}


def branch(config: Config, state: GeakState, number: int) -> Branch:
    return Branch(
        round=state["round"],
        number=number,
        lineage=state["lineages"][str(number)],
        pool=state["pool"],
        lessons=state["lessons"],
        tried=state["tried"],
        rounds_left=config.rounds - 1 - state["round"],
        authors=config.descendants,
        diverse=config.rules.diverse,
    )


async def to_authors(config: Config, state: GeakState) -> "list[Send] | str":
    from langgraph.graph import END
    from langgraph.types import Send

    if state["stop"]:
        return "tune" if config.tune and state["stop"] != "budget" else END
    return [Send(author(config, state, n), branch(config, state, n)) for n in range(config.descendants)]


def author(config: Config, state: GeakState, number: int) -> str:
    """The node that writes a lineage's next candidate."""
    lineage = state["lineages"][str(number)]
    if repairable(lineage["last"]) and not given_up(config, state, lineage):
        return "repair"
    return "optimise" if state["pool"] else "generate"


@within_budget
async def generate(state: Branch, runtime: "Runtime[Context]") -> Update:
    brief = runtime.context.brief("generator", lessons=state["lessons"])
    attempt = await write(runtime.context, state, brief, (), examples=example(runtime.context, state), **others(state))
    return grown(state, attempt, fast=False)


@within_budget
async def repair(state: Branch, runtime: "Runtime[Context]") -> Update:
    context, lineage = runtime.context, state["lineage"]
    assert lineage["last"] is not None
    brief = context.brief("repairer", lineage["last"], lessons=state["lessons"])
    shown = [] if lineage["fast"] else example(context, state)
    attempt = await write(context, state, brief, (lineage["last"],), note=lineage["note"], examples=shown)
    if attempt["kernel"] is None and not attempt["declined"]:  # The code to repair is still the last there is.
        return {"lineages": {str(state["number"]): {**lineage, "repairs": lineage["repairs"] + 1, "lesson": ""}}}
    return grown(state, attempt, fast=lineage["fast"], repairs=lineage["repairs"] + 1)


@within_budget
async def optimise(state: Branch, runtime: "Runtime[Context]") -> Update:
    context, pool, lineage = runtime.context, state["pool"], state["lineage"]
    left = ancestors.directions(context, pool)[state["number"] :: state["authors"]] if state["diverse"] else []
    brief = context.brief("optimiser", ancestors=pool, lessons=state["lessons"], strategies=left, tried=state["tried"])
    last = lineage["last"]
    note = f"Of {last['id']}:\n{lineage['note']}" if last and passes(last) and lineage["note"] else ""
    attempt = await write(context, state, brief, pool, note=note, **others(state))
    return grown(state, attempt, fast=True)


def others(state: Branch) -> dict[str, int]:
    return {"author": state["number"] + 1, "authors": state["authors"]}


def example(context: "Context", state: Branch) -> list[dict[str, Any]]:
    return examples.shown(context, state["number"] if state["diverse"] else 0)


async def write(context: "Context", state: Branch, brief: "Brief", parents: Sequence[Attempt], **variables: Any) -> Attempt:
    """One candidate of a lineage, judged."""
    round, number = state["round"], state["number"]
    answer = await context.ask(brief.role, brief, round=round, lineage=number, rounds_left=state["rounds_left"], **variables)
    return await context.evaluate(answer, round=round, lineage=number, parents=[p["id"] for p in parents])


def grown(state: Branch, attempt: Attempt, *, fast: bool, repairs: int = 0) -> Update:
    return {"lineages": {str(state["number"]): Lineage(last=attempt, repairs=repairs, fast=fast, note="", lesson="")}}


async def select(config: Config, state: GeakState, runtime: "Runtime[Context]") -> Update:
    """Closes a round: the pool, the progress, and whether the search ends."""
    arrived = [made["last"] for made in state["lineages"].values() if made["last"] and made["last"]["round"] == state["round"]]
    alike = config.alike if config.rules.diverse else None
    pool = ancestors.keep(runtime.context, state["pool"], arrived, config.ancestors, alike)
    speed = pace(pool[0]) if pool else None
    gained = speed is not None and (state["best"] is None or speed > state["best"] * (1 + config.noise))
    stale = 0 if gained or speed is None else state["stale"] + 1
    share = roofline_share(runtime.context.digest(pool[0])) if pool else None
    return {
        "pool": pool,
        "tried": ancestors.in_vain(state["tried"], arrived, pool) if config.rules.lessons else [],
        "best": speed if gained else state["best"],
        "stale": stale,
        "stop": stop(config, state["round"], pool, arrived, stale, share),
    }


def stop(config: Config, round: int, pool: list[Attempt], arrived: list[Attempt], stale: int, share: float | None) -> str:
    """The end reason, or nothing. Without a measured or modelled speed there is nothing to improve on after the first pass."""
    if pool and (pace(pool[0]) is None or not config.rules.pool):
        return "solved"
    if not pool and (reason := hopeless(arrived)):
        return reason
    if round + 1 >= (config.rounds if pool else config.correct_rounds):
        return "rounds"
    if not config.rules.budgets:
        return ""
    if share is not None and share >= config.roofline:
        return "solved"
    return "stagnation" if stale >= config.patience else ""


async def to_reflection(config: Config, state: GeakState) -> "list[Send] | str":
    from langgraph.graph import END
    from langgraph.types import Send

    if state["stop"]:
        return "tune" if config.tune and state["stop"] != "budget" else END
    branches = [branch(config, state, n) for n in range(config.descendants)]
    return [Send("reflect", b) for b in branches if instructive(b["lineage"]["last"]) and not b["lineage"]["note"]] or "plan"


@within_budget
async def reflect(state: Branch, runtime: "Runtime[Context]") -> Update:
    brief = runtime.context.brief("reflector", state["lineage"]["last"], lessons=state["lessons"])
    answer = await runtime.context.ask("reflector", brief, round=state["round"], lineage=state["number"])
    return {"lineages": {str(state["number"]): {**state["lineage"], "note": answer.note, "lesson": answer.lesson}}}


async def settle(config: Config, state: GeakState, runtime: "Runtime[Context]") -> Update:
    """Tunes the champion's launch parameters; what the pool holds is judged already."""
    context = runtime.context
    if context.champion:
        known = {ancestors.program(context, attempt) for attempt in state["pool"]}
        await tune(context, context.champion, config.tune, round=state["round"], known=known)
    return {}


def build(config: Config) -> "StateGraph[Any, Any, Any, Any]":
    from langgraph.graph import END, START, StateGraph

    from scaffolds.context import Context

    graph = StateGraph(GeakState, Context)
    graph.add_node("retrieve", partial(retrieve, config))
    graph.add_node("plan", partial(plan, config))
    for node in (generate, repair, optimise, reflect):
        graph.add_node(node.__name__, node)
    graph.add_node("select", partial(select, config))
    graph.add_node("tune", within_budget(partial(settle, config)))
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "plan")
    graph.add_conditional_edges("plan", partial(to_authors, config), ["generate", "repair", "optimise", "tune", END])
    for name in ("generate", "repair", "optimise"):
        graph.add_edge(name, "select")
    graph.add_conditional_edges("select", partial(to_reflection, config), ["reflect", "plan", "tune", END])
    graph.add_edge("reflect", "plan")
    graph.add_edge("tune", END)
    return graph
