"""One-shot: independent samples from the generator, the best of them: k of them, or as many as a budget of tokens pays for.

The control arm for every other scaffold. No sample sees another: waves only tell how many more are asked for.
"""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from scaffolds.nodes import Update, within_budget
from scaffolds.options import at_least
from scaffolds.rank import better, pace
from scaffolds.state import Attempt, State
from scaffolds.tuning import tune

if TYPE_CHECKING:
    from langgraph.graph import StateGraph
    from langgraph.runtime import Runtime
    from langgraph.types import Send

    from scaffolds.context import Context

WAVE = 64
"""Most samples that are asked for at once while a budget of tokens is spent."""
WAVES = 99


@dataclass
class Config:
    samples: int = 1
    """Independent candidates, asked for at once; the best one is the champion. With `tokens`: the first ones, whatever they cost."""
    tokens: int | None = None
    """Go on sampling while what is left of so many tokens holds the dearest sample so far. Booked totals count: input, output, failed
    tries; where a usage is unknown, its upper bound."""
    tune: int = 0
    """Variants of the best candidate's launch parameters that are judged at the end, without the model."""
    rounds: int | None = None
    """How often `samples` are asked for; null: once, or with `tokens` as often as they pay for."""

    @property
    def depth(self) -> int:
        """Waves, at most."""
        return self.rounds or (1 if self.tokens is None else WAVES)

    @property
    def batches(self) -> int | None:
        """What a run needs at most with `model=batch`: one for each wave; how many there will be, a budget of tokens does not say."""
        return self.rounds or (1 if self.tokens is None else None)

    def __post_init__(self) -> None:
        at_least(self, 1, "samples")
        at_least(self, 0, "tune")
        at_least(self, 1, *(name for name in ("rounds", "tokens") if getattr(self, name) is not None))


class Tally(TypedDict):
    """Sums over samples. They are all that later waves depend on, and what keeps the state small."""

    samples: int
    declined: int
    invalid: int
    """Candidates that nobody could judge, because the task is broken."""
    tokens: int
    dearest: int
    """Most tokens of one sample."""
    best: Attempt | None


def tally(attempt: Attempt, tokens: int) -> Tally:
    return Tally(
        samples=1,
        declined=int(attempt["declined"]),
        invalid=int(attempt["verdict"] == "task_invalid"),
        tokens=tokens,
        dearest=tokens,
        best=better(None, attempt),
    )


def add(old: Tally, new: Tally) -> Tally:
    """Reducer: commutative, as the samples of a wave end in any order."""
    if not old:
        return new
    return Tally(
        samples=old["samples"] + new["samples"],
        declined=old["declined"] + new["declined"],
        invalid=old["invalid"] + new["invalid"],
        tokens=old["tokens"] + new["tokens"],
        dearest=max(old["dearest"], new["dearest"]),
        best=better(old["best"], new["best"]) if new["best"] else old["best"],
    )


class OneshotState(State, total=False):
    waves: int
    """That have been asked for."""
    tally: Annotated[Tally, add]


class Sample(TypedDict):
    wave: int
    number: int
    author: int
    authors: int


async def first_wave(config: Config, _: OneshotState) -> "list[Send]":
    return sends(0, config.samples, 0)


def sends(wave: int, count: int, before: int) -> "list[Send]":
    from langgraph.types import Send

    samples = [Sample(wave=wave, number=n, author=before + n + 1, authors=before + count) for n in range(count)]
    return [Send("generate", sample) for sample in samples]


@within_budget
async def generate(state: Sample, runtime: "Runtime[Context]") -> Update:
    context, wave, number = runtime.context, state["wave"], state["number"]
    variables = {"author": state["author"], "authors": state["authors"], "rounds_left": 0}
    answer = await context.ask("generator", context.brief("generator"), round=0, lineage=wave, sample=number, **variables)
    attempt = await context.evaluate(answer, round=0, lineage=wave, sample=number)
    return {"tally": tally(attempt, sum(context.ledger.call(call).tokens_upper for call in answer.calls))}


def more(config: Config, tally: Tally) -> int:
    """Samples of the next wave. Where no speed is known, the first pass is as good as any other."""
    done = tally["best"] is not None and pace(tally["best"]) is None
    if done or hopeless(tally):
        return 0
    if config.tokens is None:
        return config.samples
    return 0 if not tally["dearest"] else max(0, min(WAVE, (config.tokens - tally["tokens"]) // tally["dearest"]))


def hopeless(tally: Tally) -> str:
    """The end reason where no further sample can do better, as `nodes.hopeless` says it of attempts."""
    return "declined" if tally["declined"] == tally["samples"] else "error" if tally["invalid"] == tally["samples"] else ""


async def select(config: Config, state: OneshotState, runtime: "Runtime[Context]") -> Update:
    """Closes a wave. A used-up budget has its end reason already, and its samples are not in the tally."""
    waves = state.get("waves", 0) + 1
    if state["stop"] or (waves < config.depth and more(config, state["tally"])) or tunable(config, state["tally"]):
        return {"waves": waves}
    return {"waves": waves, "stop": outcome(state["tally"])}


def outcome(tally: Tally) -> str:
    return "solved" if tally["best"] else hopeless(tally) or "rounds"


def tunable(config: Config, tally: Tally) -> bool:
    return config.tune > 0 and tally["best"] is not None


async def onwards(config: Config, state: OneshotState) -> "list[Send] | str":
    from langgraph.graph import END

    if state["stop"]:
        return END
    count = more(config, state["tally"]) if state["waves"] < config.depth else 0
    return sends(state["waves"], count, state["tally"]["samples"]) or "tune"


async def sweep(config: Config, state: OneshotState, runtime: "Runtime[Context]") -> Update:
    best = state["tally"]["best"]
    assert best is not None
    await tune(runtime.context, best, config.tune, round=1)
    return {"stop": "solved"}


def build(config: Config) -> "StateGraph[Any, Any, Any, Any]":
    from langgraph.graph import END, START, StateGraph

    from scaffolds.context import Context

    graph = StateGraph(OneshotState, Context)
    graph.add_node("generate", generate)
    graph.add_node("select", partial(select, config))
    graph.add_node("tune", within_budget(partial(sweep, config)))
    graph.add_conditional_edges(START, partial(first_wave, config), ["generate"])
    graph.add_edge("generate", "select")
    graph.add_conditional_edges("select", partial(onwards, config), ["generate", "tune", END])
    graph.add_edge("tune", END)
    return graph
