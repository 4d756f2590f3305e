"""Planner, coder, debugger, profiler, judge and critic over a tree of attempts (after STARK).

A round takes nodes of the tree by decaying epsilon-greedy, one for each branch. A failing node is debugged. A passing one is improved: its
numbers are profiled, a judge names one bottleneck, a planner anchors edits to lines, a coder carries them out. What came of it goes up the
tree, and a critic compares it with what was expected.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from agents import feedback
from agents.parsing import labelled
from agents.strategies import family
from scaffolds import planning
from scaffolds.nodes import Update, hopeless, roofline_share, within_budget
from scaffolds.options import at_least
from scaffolds.planning import Branch, Fix, Found, ask, change, judged, planned
from scaffolds.rank import pace
from scaffolds.state import Attempt, State, merge
from scaffolds.tree import Tree, deal, developed, exploration, leaders, mended, passes, planted, pruned, select
from scaffolds.tuning import tune

if TYPE_CHECKING:
    from langgraph.graph import StateGraph
    from langgraph.runtime import Runtime
    from langgraph.types import Send

    from scaffolds.context import Context

APPROACHES = ("reuse", "split", "persistent", "tile", "algebra")
"""What seeds lean on, beside the first one, which is free."""
MAX_NODES = 16
LEADERS = 3
"""Of the best modules, what a planner is shown."""
MAX_LESSONS = 9
MAX_FIXES = 3
"""The newest repairs that worked, which a debugger is shown."""
FIX = 1500
"""Characters of each."""


@dataclass
class Config:
    rounds: int = 5
    """The first one plants seeds, each other one is a candidate per branch."""
    seeds: int = 2
    """First candidates, each with another approach to lean on."""
    width: int = 2
    """Branches per round."""
    debug: int = 3
    """Failed repairs after which a node is dropped."""
    epsilon: float = 0.4
    """The chance that a branch leaves the most promising node for another, in the first round after the seeds."""
    decay: float = 0.8
    """What is left of it after each round; rounds without a gain bring it back."""
    patience: int = 3
    """Rounds without a gain after which the search ends."""
    noise: float = 0.02
    """Relative gain of the best speed below which a round counts as without one."""
    roofline: float = 0.95
    """Share of what the hardware allows at which the search ends, where it is measured."""
    tune: int = 0
    """Evaluations of the launch parameters of the best kernel at the end, without the model."""

    @property
    def batches(self) -> int:
        """What a run needs at most with `model=batch`: seeds; then judge, planner, coder and critic in turn; none after the last."""
        return 1 if self.rounds == 1 else 4 * (self.rounds - 1)

    def __post_init__(self) -> None:
        at_least(self, 1, "rounds", "seeds", "width", "debug", "patience")
        at_least(self, 0, "epsilon", "decay", "noise", "roofline", "tune")


class MultiagentState(State, total=False):
    round: int
    tree: Tree
    chosen: list[str]
    """The node of each branch; of a round that plants seeds none."""
    found: Annotated[dict[str, Found], merge]
    """By branch, as text."""
    lessons: list[str]
    fixes: list[Fix]
    best: float | None
    """The speed that a gain is measured from."""
    stale: int
    """Rounds since the last gain."""


async def choose(config: Config, state: MultiagentState, runtime: "Runtime[Context]") -> Update:
    """Opens a round. With no node left to go on from, seeds are planted anew."""
    if state["stop"]:
        return {}
    if "round" not in state:
        return {"round": 0, "tree": {}, "chosen": [], "found": {}, "lessons": [], "fixes": [], "best": None, "stale": 0}
    round = state["round"] + 1
    epsilon = exploration(config.epsilon, config.decay, round, state["stale"])
    learnt = [lesson for _, found in arrivals(state) for lesson in found["lessons"]]
    lessons = list(dict.fromkeys([*state["lessons"], *learnt]))[-MAX_LESSONS:]
    return {"round": round, "chosen": select(state["tree"], config.width, epsilon, runtime.context.rng), "lessons": lessons}


async def to_authors(config: Config, state: MultiagentState) -> "list[Send] | str":
    from langgraph.graph import END
    from langgraph.types import Send

    if state["stop"]:
        return END
    if not state["chosen"]:
        seeds = config.seeds if state["round"] == 0 else config.width
        return [Send("plant", Branch(**common(config, state), number=n, authors=seeds)) for n in range(seeds)]
    return [Send(*branch(config, state, number)) for number in range(len(state["chosen"]))]


def common(config: Config, state: MultiagentState) -> Any:
    return {"round": state["round"], "rounds_left": config.rounds - 1 - state["round"], "lessons": state["lessons"]}


def branch(config: Config, state: MultiagentState, number: int) -> tuple[str, Branch]:
    """The node that goes on from what was chosen, and what it works from."""
    tree, node = state["tree"], state["tree"][state["chosen"][number]]
    made = Branch(**common(config, state), number=number, node=node["attempt"])
    if passes(node):
        more = Branch(share=deal(state["chosen"], number), tried=node["tried"], leaders=leaders(tree, LEADERS))
        return "improve", {**made, **more}
    base = tree.get(node["base"] or "")
    return "debug", {**made, **Branch(base=base["attempt"] if base else None, fixes=state["fixes"])}


@within_budget
async def plant(state: Branch, runtime: "Runtime[Context]") -> Update:
    """A seed: a candidate made from nothing, with an approach of its own to lean on."""
    context, number, authors = runtime.context, state["number"], state["authors"]
    place = state["round"] + number
    approach = APPROACHES[(place - 1) % len(APPROACHES)] if place else None
    brief = context.brief("generator", lessons=state["lessons"], strategies=[approach] if approach else [])
    answer = await ask(context, state, brief, author=number + 1, authors=authors, rounds_left=state["rounds_left"])
    return await judged(context, state, answer)


@within_budget
async def debug(state: Branch, runtime: "Runtime[Context]") -> Update:
    """A repair of a failing node, by what broke it and by what mended its siblings."""
    context, node, base = runtime.context, state["node"], state["base"]
    brief = context.brief("debugger", node, [base] if base else [], state["lessons"])
    alike = [fix for fix in state["fixes"] if fix["verdict"] == node["verdict"]] or state["fixes"]
    fixes = [{"verdict": fix["verdict"], "diff": change(context, fix["broken"], fix["mended"], FIX)} for fix in alike]
    diff = change(context, base["kernel"], node["kernel"]) if base else ""
    answer = await ask(context, state, brief, diff=diff, fixes=fixes, rounds_left=state["rounds_left"])
    return await judged(context, state, answer, node)


async def backpropagate(config: Config, state: MultiagentState, runtime: "Runtime[Context]") -> Update:
    """Closes a round: the tree, the repairs that worked, the progress, and whether the search ends."""
    tree, fixes = state["tree"], state["fixes"]
    arrived = arrivals(state)
    for number, found in arrived:
        key, attempt = state["chosen"][number] if state["chosen"] else "", found["attempt"]
        if key and not passes(state["tree"][key]):
            fixes = [*fixes, *mending(state["tree"][key]["attempt"], attempt)][-MAX_FIXES:]
        tree = grown(config, tree, key, attempt)
    tree = pruned(tree, MAX_NODES)
    best = leaders(tree, 1)
    speed = pace(best[0]) if best else None
    gained = speed is not None and (state["best"] is None or speed > state["best"] * (1 + config.noise))
    stale = 0 if gained or speed is None else state["stale"] + 1
    share = roofline_share(runtime.context.digest(best[0])) if best else None
    reason = stop(config, state["round"], best, [found["attempt"] for _, found in arrived], stale, share)
    return {"tree": tree, "fixes": fixes, "best": speed if gained else state["best"], "stale": stale, "stop": reason}


def arrivals(state: MultiagentState) -> list[tuple[int, Found]]:
    """What the branches of this round came to, in their order."""
    found = [(int(number), found) for number, found in state["found"].items() if found["attempt"]["round"] == state["round"]]
    return sorted(found, key=lambda item: item[0])


def grown(config: Config, tree: Tree, key: str, attempt: Attempt) -> Tree:
    if key not in tree:
        return planted(tree, attempt, family=family(attempt["strategy"]))
    if passes(tree[key]):
        return developed(tree, key, attempt, "" if attempt["declined"] else family(attempt["strategy"]))
    return mended(tree, key, attempt, config.debug)


def mending(failing: Attempt, attempt: Attempt) -> list[Fix]:
    """The repair, if it worked."""
    if attempt["verdict"] != "pass" or failing["kernel"] is None or attempt["kernel"] is None:
        return []
    return [Fix(verdict=failing["verdict"], broken=failing["kernel"], mended=attempt["kernel"])]


def stop(config: Config, round: int, best: list[Attempt], arrived: Sequence[Attempt], stale: int, share: float | None) -> str:
    """The end reason, or nothing. Without a measured or modelled speed there is nothing to improve on after the first pass."""
    if best and (pace(best[0]) is None or (share is not None and share >= config.roofline)):
        return "solved"
    if not best and (reason := hopeless(arrived)):
        return reason
    if round + 1 >= config.rounds:
        return "rounds"
    return "stagnation" if stale >= config.patience else ""


async def onwards(config: Config, state: MultiagentState) -> "list[Send] | str":
    """To the critics of what was planned in this round, or to the end."""
    from langgraph.graph import END
    from langgraph.types import Send

    if state["stop"]:
        settled = leaders(state["tree"], 1) if config.tune and state["stop"] != "budget" else []
        return [Send("tune", swept(config, state["round"], attempt)) for attempt in settled] or END
    made = [
        Branch(**common(config, state), number=number, node=found["parent"], found={str(number): found})
        for number, found in arrivals(state)
        if found["plan"] and found["parent"]
    ]
    return [Send("criticise", branch) for branch in made] or "choose"


@within_budget
async def criticise(state: Branch, runtime: "Runtime[Context]") -> Update:
    """What was expected against what came of it, as lessons."""
    context, node, found = runtime.context, state["node"], state["found"][str(state["number"])]
    attempt, plan = found["attempt"], found["plan"] or {}
    brief = context.brief("critic", attempt, [node], state["lessons"], plan=planned(plan))
    before, diff = feedback.text(context.digest(node), context.feedback_tokens), change(context, node["kernel"], attempt["kernel"])
    answer = await ask(context, state, brief, before=before, diff=diff, followed=found["followed"])
    return {"found": {str(state["number"]): {**found, "lessons": lessons(answer.note, answer.lesson)}}}


def lessons(note: str, lesson: str) -> list[str]:
    """What a critic says in general, and what it says to avoid and to try."""
    said = [("", lesson), ("Avoid: ", labelled(note, "avoid")), ("Try: ", labelled(note, "try"))]
    return [f"{label}{text}" for label, text in said if text and text.strip(" .`").lower() not in ("nothing", "none")]


def swept(config: Config, round: int, settled: Attempt) -> Branch:
    """A lineage behind those of the last round."""
    return Branch(round=round, number=max(config.seeds, config.width), node=settled, evaluations=config.tune)


@within_budget
async def sweep(state: Branch, runtime: "Runtime[Context]") -> Update:
    """The launch parameters of the best kernel, without the model; the context keeps the champion."""
    await tune(runtime.context, state["node"], state["evaluations"], round=state["round"], lineage=state["number"], first=0)
    return {}


def build(config: Config) -> "StateGraph[Any, Any, Any, Any]":
    from langgraph.graph import END, START, StateGraph

    from scaffolds.context import Context

    graph = StateGraph(MultiagentState, Context)
    for node in (choose, backpropagate):
        graph.add_node(node.__name__, partial(node, config))
    for branch in (plant, debug, criticise):
        graph.add_node(branch.__name__, branch)
    graph.add_node("tune", sweep)
    graph.add_node("improve", planning.build())
    graph.add_edge(START, "choose")
    graph.add_conditional_edges("choose", partial(to_authors, config), ["plant", "debug", "improve", END])
    for name in ("plant", "debug", "improve"):
        graph.add_edge(name, "backpropagate")
    graph.add_conditional_edges("backpropagate", partial(onwards, config), ["criticise", "choose", "tune", END])
    graph.add_edge("criticise", "choose")
    graph.add_edge("tune", END)
    return graph
