"""Evolution: islands of correct programs, a bandit that chooses parents and strategies by their gains, and repairs for children that fail.

In each step every island makes a child by one operator, or repairs its last one. What a step found is read after it, in the order of
islands: a program that is known already is dropped before anyone judges it, the others enter their island's archive if they pass.
"""

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from agents.likeness import fingerprint
from agents.models.base import Identity
from agents.sweep import TUNER
from scaffolds import archive, tuning
from scaffolds.archive import Arms
from scaffolds.islands import Child, Island, again, bottleneck, brought_up, conceive
from scaffolds.nodes import Update, hopeless, within_budget
from scaffolds.options import at_least
from scaffolds.rank import ordered, pace
from scaffolds.state import Attempt, State, merge

if TYPE_CHECKING:
    from langgraph.graph import StateGraph
    from langgraph.runtime import Runtime
    from langgraph.types import Send

    from agents.models.base import Brief
    from scaffolds.context import Context

TUNED = 64
"""Swept programs that are remembered."""


@dataclass
class Config:
    queries: int = 32
    """Attempts in all: a child, a repair and a variant that tuning has judged count one each, whatever becomes of them."""
    islands: int = 4
    """Populations that evolve side by side."""
    cells: int = 8
    """Programs that an island keeps, each the best of its cell."""
    repairs: int = 3
    """Of a child that fails, in a row."""
    tune: int = 4
    """Variants of an island's best that are judged once it is settled; they cost queries, but no tokens."""
    crossover: float = 0.25
    """Share of children with two parents, where an island has two cells."""
    patience: int = 3
    """Children of an island without a gain, after which the next is built on another algorithm."""
    migrate: int = 4
    """Children of an island that pass, after which it sends its best to the next one."""
    noise: float = 0.02
    """Relative gain of an island's best below which there is none."""

    @property
    def rounds(self) -> int:
        """Steps, at most: in each, every island has at least one attempt."""
        return -(-self.queries // self.islands)

    @property
    def batches(self) -> int:
        """What a run needs at most with `model=batch`: each step asks once, for all islands together."""
        return self.rounds

    def __post_init__(self) -> None:
        at_least(self, 1, "queries", "islands", "cells", "patience", "migrate")
        at_least(self, 0, "repairs", "tune", "crossover", "noise")


class EvolveState(State, total=False):
    spent: int
    """Attempts so far."""
    islands: list[Island]
    children: Annotated[dict[str, Child | None], merge]
    """Under way, by island."""
    seen: dict[str, str]
    """Attempts by the fingerprint of their program."""
    tuned: list[str]
    """Attempts whose launch parameters were swept, the newest ones."""
    arms: Arms
    """Of cells, to take parents from, and of families, to give to authors."""


class Branch(TypedDict):
    """What one island's node works from."""

    number: int
    child: Child
    lessons: list[str]
    seen: dict[str, str]
    rounds_left: int
    islands: int


async def breed(config: Config, state: EvolveState, runtime: "Runtime[Context]") -> Update:
    """Opens a step: islands go on with a repair or conceive another child; the first ones only, where queries are too few for all."""
    fresh = {} if "islands" in state else opened(config)
    state = EvolveState(**{**state, **fresh})  # type: ignore[typeddict-item]
    arms, tuned, children, left = state["arms"], state["tuned"], dict[str, Child | None](), config.queries - state["spent"]
    for n in range(config.islands):
        child = children[str(n)] = None
        if left > 0:
            # One island at a time, so that no variant is judged twice.
            may_tune = partial(tunable, runtime.context, state) if config.tune and tuned == state["tuned"] else None
            child = state["children"].get(str(n)) or conceive(config, runtime.context, state["islands"], n, arms, may_tune)
            if child["operator"] == "tune":
                tuned = [*tuned, child["parents"][0]["id"]][-TUNED:]
            if not child["failed"]:
                arms = archive.pulled(arms, child["arms"])
            share = max(1, min(child["share"], left - (config.islands - n - 1)))
            left -= share
            children[str(n)] = {**child, "share": share}
    return {**fresh, "arms": arms, "tuned": tuned, "children": children}


def opened(config: Config) -> Update:
    island = Island(archive={}, children=0, grown=0, stale=0, best=None, tried=[])
    return {"islands": [island] * config.islands, "children": {}, "spent": 0, "seen": {}, "tuned": [], "arms": {}}


def tunable(context: "Context", state: EvolveState, best: Attempt) -> bool:
    """Whether a sweep would find something new: not once more over what was swept, nor over what came of it."""
    if best["role"] == TUNER or best["id"] in state["tuned"]:
        return False
    variants = tuning.proposals(context, context.recorder.kernel(best["kernel"] or ""), known=state["seen"])
    return next(variants, None) is not None


def under_way(state: EvolveState) -> list[tuple[int, Child]]:
    """Islands with what they are at, in order."""
    return [(n, at) for n in range(len(state["islands"])) if (at := state["children"][str(n)])]


def branch(config: Config, state: EvolveState, n: int, child: Child) -> Branch:
    left = max(0, config.queries - state["spent"] - config.islands) // config.islands
    lessons = state["islands"][n]["tried"]
    return Branch(number=n, child=child, lessons=lessons, seen=state["seen"], rounds_left=left, islands=config.islands)


async def to_authors(config: Config, state: EvolveState) -> "list[Send]":
    from langgraph.types import Send

    return [Send("repair" if at["failed"] else at["operator"], branch(config, state, n, at)) for n, at in under_way(state)]


@within_budget
async def generate(state: Branch, runtime: "Runtime[Context]") -> Update:
    brief = runtime.context.brief("generator", lessons=state["lessons"], strategies=[state["child"]["family"]])
    return await write(runtime.context, state, brief, author=state["number"] + 1, authors=state["islands"])


@within_budget
async def mutate(state: Branch, runtime: "Runtime[Context]") -> Update:
    (parent,), chosen = state["child"]["parents"], state["child"]["family"]
    found = bottleneck(runtime.context, parent, chosen)
    brief = runtime.context.brief("mutator", parent, lessons=state["lessons"], diagnosis=found, strategies=[chosen])
    return await write(runtime.context, state, brief)


@within_budget
async def recombine(state: Branch, runtime: "Runtime[Context]") -> Update:
    brief = runtime.context.brief("recombiner", ancestors=state["child"]["parents"], lessons=state["lessons"])
    return await write(runtime.context, state, brief)


@within_budget
async def restructure(state: Branch, runtime: "Runtime[Context]") -> Update:
    (parent,), chosen = state["child"]["parents"], state["child"]["family"]
    return await write(runtime.context, state, runtime.context.brief("restructurer", parent, lessons=state["lessons"], strategies=[chosen]))


@within_budget
async def repair(state: Branch, runtime: "Runtime[Context]") -> Update:
    return await write(runtime.context, state, runtime.context.brief("repairer", state["child"]["failed"]), note="")


async def write(context: "Context", state: Branch, brief: "Brief", **variables: Any) -> Update:
    """Asks for a child, or for its repair."""
    child, number = state["child"], state["number"]
    variables = {**variables, "rounds_left": state["rounds_left"]}
    answer = await context.ask(brief.role, brief, round=child["round"], lineage=number, sample=child["sample"], **variables)
    return {"children": {str(number): {**child, "answer": asdict(answer)}}}


@within_budget
async def tune(state: Branch, runtime: "Runtime[Context]") -> Update:
    """Variants in the parent's launch parameters, judged; no model is asked."""
    child, number = state["child"], state["number"]
    where = {"round": child["round"], "lineage": number, "first": 0}
    judged = await tuning.tune(runtime.context, child["parents"][0], child["share"], **where, known=state["seen"])
    return {"children": {str(number): {**child, "judged": judged}}}


async def sift(state: EvolveState, runtime: "Runtime[Context]") -> Update:
    """Takes the program from answers that hold a known one; of two islands that wrote the same, the first keeps it."""
    kernel, children = runtime.context.recorder.kernel, dict[str, Child]()
    tuned = {fingerprint(kernel(a["kernel"] or "")): a["id"] for _, child in under_way(state) for a in child["judged"]}
    seen = archive.remembered(state["seen"], tuned)
    for n, child in under_way(state):
        if child["answer"] and child["answer"]["kernel"]:
            mark = fingerprint(kernel(child["answer"]["kernel"]))
            if mark in seen:
                children[str(n)] = {**child, "answer": {**child["answer"], "kernel": None, "parse": f"the same program as {seen[mark]}"}}
            else:
                seen = archive.remembered(seen, {mark: Identity(**child["answer"]["calls"][0]).attempt})
    return {"seen": seen, "children": children}


async def to_judges(config: Config, state: EvolveState) -> "list[Send] | str":
    from langgraph.types import Send

    return [Send("judge", branch(config, state, n, at)) for n, at in under_way(state) if at["answer"]] or "select"


@within_budget
async def judge(state: Branch, runtime: "Runtime[Context]") -> Update:
    from scaffolds.context import Answer  # Not at the top: a scaffold's options are read without torch.

    child, number = state["child"], state["number"]
    assert child["answer"] is not None
    answer = Answer(**{**child["answer"], "calls": tuple(Identity(**call) for call in child["answer"]["calls"])})
    parents = [a["id"] for a in ([child["failed"]] if child["failed"] else child["parents"])]
    where = {"round": child["round"], "lineage": number, "sample": child["sample"]}
    attempt = await runtime.context.evaluate(answer, **where, parents=parents)
    return {"children": {str(number): {**child, "answer": None, "judged": [attempt]}}}


async def select(config: Config, state: EvolveState, runtime: "Runtime[Context]") -> Update:
    """Closes a step: another repair for what failed; archive, rewards and migration for what is done with; and whether the search ends."""
    context, islands, arms = runtime.context, list(state["islands"]), state["arms"]
    children, leaving, arrived = dict[str, Child | None](), [], list[Attempt]()
    for n, at in under_way(state):
        arrived += at["judged"]
        children[str(n)] = again(config, at)
        if children[str(n)] is None:
            islands[n], reward = brought_up(config, context, islands[n], at)
            arms = archive.credited(arms, at["arms"], reward)
            if islands[n]["grown"] > state["islands"][n]["grown"] and islands[n]["grown"] % config.migrate == 0:
                leaving.append(n)
    moved = archive.migrate([island["archive"] for island in islands], leaving, config.cells)
    islands = [Island(**{**island, "archive": programs}) for island, programs in zip(islands, moved, strict=True)]
    spent = state["spent"] + len(arrived)
    ended = stop(config, spent, islands, arrived)
    return {"islands": islands, "children": children, "arms": arms, "spent": spent, "stop": ended}


def stop(config: Config, spent: int, islands: list[Island], arrived: list[Attempt]) -> str:
    """The end reason, or nothing. Without a measured or modelled speed there is nothing to select by after the first pass."""
    elites = ordered(elite for island in islands for elite in island["archive"].values())
    if elites and pace(elites[0]) is None:
        return "solved"
    # Nobody judges a program twice, and who declines to repair one may write another.
    begun = [] if any(a["sample"] for a in arrived) else [a for a in arrived if a["kernel"]] or arrived
    if not elites and (reason := hopeless(begun)):
        return reason
    return "rounds" if spent >= config.queries else ""


async def onward(state: EvolveState) -> str:
    from langgraph.graph import END

    return END if state["stop"] else "breed"


def build(config: Config) -> "StateGraph[Any, Any, Any, Any]":
    from langgraph.graph import END, START, StateGraph

    from scaffolds.context import Context

    graph = StateGraph(EvolveState, Context)
    graph.add_node("breed", partial(breed, config))
    authors = (generate, mutate, recombine, restructure, repair, tune)
    for node in (*authors, sift, judge):
        graph.add_node(node.__name__, node)
    graph.add_node("select", partial(select, config))
    graph.add_edge(START, "breed")
    graph.add_conditional_edges("breed", partial(to_authors, config), [node.__name__ for node in authors])
    for node in authors:
        graph.add_edge(node.__name__, "sift")
    graph.add_conditional_edges("sift", partial(to_judges, config), ["judge", "select"])
    graph.add_edge("judge", "select")
    graph.add_conditional_edges("select", onward, ["breed", END])
    return graph
