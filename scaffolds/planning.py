"""One branch of a search on a passing node: profile, judge, planner, coder, each a node of a graph of its own.

No model's taste decides alone: fixed rules read the numbers, and mask the strategies that a planner may choose from (`agents.rules`).
"""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from agents import rules
from agents.diffs import difference
from agents.plans import Diagnosis, Edit, Plan, followed
from agents.strategies import BOTTLENECKS, STRATEGIES, headed
from scaffolds.nodes import Update, within_budget
from scaffolds.state import Attempt, first, merge

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph
    from langgraph.runtime import Runtime

    from scaffolds.context import Answer, Context

ANYWHERE = "launch"
"""A strategy that every module has room for."""


class Fix(TypedDict):
    """A repair that worked: the verdict before, and the shas of both modules."""

    verdict: str
    broken: str
    mended: str


class Found(TypedDict):
    """What a branch came to."""

    attempt: Attempt
    parent: Attempt | None
    plan: dict[str, Any] | None
    followed: bool
    """Whether the module changes where the plan says."""
    lessons: list[str]
    """The critic's."""


class Branch(TypedDict, total=False):
    """What one branch works from, and what its roles add to it."""

    round: int
    number: int
    authors: int
    """Of seeds: how many there are."""
    evaluations: int
    """Of the sweep at the end: how many it may take."""
    node: Attempt
    base: Attempt | None
    """Of a failing node, the working one that it was made from."""
    share: tuple[int, int]
    """Which of how many branches this is that go on from the same node."""
    tried: dict[str, str]
    leaders: list[Attempt]
    lessons: list[str]
    fixes: list[Fix]
    rounds_left: int
    counts: list[str]
    """What fixed rules read from the numbers, the surest first."""
    diagnosis: dict[str, str]
    plan: dict[str, Any]
    found: Annotated[dict[str, Found], merge]
    stop: Annotated[str, first]


class Outcome(TypedDict, total=False):
    """What a branch gives back to the graph."""

    found: Annotated[dict[str, Found], merge]
    stop: Annotated[str, first]


async def profile(state: Branch, runtime: "Runtime[Context]") -> Update:
    """What fixed rules read from the numbers of the evaluation; no model is asked."""
    context = runtime.context
    digest = context.digest(state["node"])
    readings = rules.readings(digest, context.hardware) or [rules.diagnosis(digest, context.hardware)]
    return {"counts": [f"{found.bottleneck}: {found.evidence}" for found in readings], "diagnosis": asdict(readings[0])}


@within_budget
async def judge(state: Branch, runtime: "Runtime[Context]") -> Update:
    """Names one bottleneck; where the reply names none or two, the surest of the rules stands."""
    brief = runtime.context.brief("judge", state["node"])
    answer = await ask(runtime.context, state, brief, counts=state["counts"], bottlenecks=BOTTLENECKS)
    return {"diagnosis": asdict(answer.diagnosis)} if answer.diagnosis else {}


@within_budget
async def plan(state: Branch, runtime: "Runtime[Context]") -> Update:
    """Anchored edits of an allowed strategy. A planner that declines ends the branch; for an unreadable plan a rule's stands in."""
    context, node = runtime.context, state["node"]
    diagnosis = Diagnosis(**state["diagnosis"])
    digest = context.digest(node)
    offered = offer(rules.allowed(digest, context.hardware, diagnosis.bottleneck), rules.allowed(digest, context.hardware), state)
    others = [attempt for attempt in state["leaders"] if attempt["id"] != node["id"]]
    tried = list(state["tried"].values())
    brief = context.brief("planner", node, others, state["lessons"], diagnosis=diagnosis, strategies=offered, tried=tried)
    ruled_out = rules.masked(digest, context.hardware)
    author, authors = state["share"][0] + 1, state["share"][1]
    answer = await ask(context, state, brief, masked=ruled_out, author=author, authors=authors, rounds_left=state["rounds_left"])
    if answer.declined:
        return await judged(context, state, answer, node)
    masked = answer.plan is not None and (headed(answer.plan.strategy) or offered[0]) not in offered
    made = whole(context, node, offered[0]) if answer.plan is None or masked else answer.plan
    return {"plan": asdict(made)}


def offer(serving: list[str], allowed: list[str], state: Branch) -> list[str]:
    """What a branch may choose from: strategies not tried in vain on this node, dealt to the branches that go on from it.

    Where those that serve the bottleneck are not two for each branch, others that no rule masks are dealt with them; `ANYWHERE` is for all.
    """
    number, of = state["share"]
    fresh = [name for name in serving if name not in state["tried"]]
    more = [name for name in allowed if name not in state["tried"] and name not in serving]
    dealt = [*fresh, *more[: max(0, 2 * of - len(fresh))]] or allowed
    share = dealt[number % len(dealt) :: of]
    return share if ANYWHERE in {*share, *state["tried"]} else [*share, ANYWHERE]


def whole(context: "Context", node: Attempt, strategy: str) -> Plan:
    """The plan of a rule: the strategy's own words, anchored to the whole module."""
    last = len(source(context, node["kernel"]).splitlines())
    return Plan(f"{strategy}: {STRATEGIES[strategy].says}", (Edit(1, max(1, last), STRATEGIES[strategy].says, "", ""),))


@within_budget
async def code(state: Branch, runtime: "Runtime[Context]") -> Update:
    """Carries the plan out, seeing nothing else; whether the module changes where the plan says is recorded for the critic."""
    context, node, made = runtime.context, state["node"], planned(state["plan"])
    answer = await ask(context, state, context.brief("coder", node, plan=made))
    kept = answer.kernel is not None and followed(made, source(context, node["kernel"]), source(context, answer.kernel))
    found = await judged(context, state, replace(answer, strategy=made.strategy or answer.strategy), node, made, kept)
    attempt = found["found"][str(state["number"])]["attempt"]
    context.recorder.event("plan", trajectory=context.trajectory, attempt=attempt["id"], strategy=made.strategy, followed=kept)
    return found


async def ask(context: "Context", state: Branch, brief: Any, **variables: Any) -> "Answer":
    return await context.ask(brief.role, brief, round=state["round"], lineage=state["number"], **variables)


async def judged(
    context: "Context", state: Branch, answer: "Answer", parent: Attempt | None = None, plan: Plan | None = None, followed: bool = True
) -> Update:
    """A branch's candidate with its verdict."""
    parents = [parent["id"]] if parent else []
    attempt = await context.evaluate(answer, round=state["round"], lineage=state["number"], parents=parents)
    found = Found(attempt=attempt, parent=parent, plan=asdict(plan) if plan else None, followed=followed, lessons=[])
    return {"found": {str(state["number"]): found}}


def planned(plan: dict[str, Any]) -> Plan:
    return Plan(plan["strategy"], tuple(Edit(**edit) for edit in plan["edits"]))


def source(context: "Context", kernel: str | None) -> str:
    return context.recorder.kernel(kernel) if kernel else ""


def change(context: "Context", before: str | None, after: str | None, *limit: int) -> str:
    """The diff between two kernels of the run store."""
    return difference(source(context, before), source(context, after), *limit) if before and after else ""


def build() -> "CompiledStateGraph[Any, Any, Any, Any]":
    """profile -> judge -> plan -> code, for one branch."""
    from langgraph.graph import END, START, StateGraph

    from scaffolds.context import Context

    graph = StateGraph(Branch, Context, output_schema=Outcome)
    for node in (profile, judge, plan, code):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "profile")
    graph.add_edge("profile", "judge")
    graph.add_conditional_edges("judge", lambda state: END if state.get("stop") else "plan", ["plan", END])
    graph.add_conditional_edges("plan", lambda state: "code" if state.get("plan") else END, ["code", END])
    graph.add_edge("code", END)
    return graph.compile()
