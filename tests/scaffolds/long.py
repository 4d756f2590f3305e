"""Trajectories of a thousand attempts and more, and the size of their graph's state after each superstep."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from agents import parsing, roles
from agents.models.base import Brief, Identity, Reply, Request
from agents.strategies import STRATEGIES
from scaffolds import loader, trajectory
from scaffolds.context import Answer, Context
from scaffolds.state import Attempt
from tests.scaffolds.scripted import context, reply_for

ENDLESS = 10**6
"""Rounds without a gain."""
BRANCHES = {"descendants": 4, "width": 4, "islands": 4}
"""Options by which a scaffold is told how much to do side by side."""


def options(name: str, attempts: int) -> dict[str, Any]:
    """Options under which a scaffold makes at least so many attempts, side by side where it can."""
    known = [f.name for f in fields(loader.config_of(name))]
    branches = {key: n for key, n in BRANCHES.items() if key in known}
    rounds = attempts // max(branches.values(), default=1) + 1
    lengths = {"queries": attempts, "samples": attempts, "patience": ENDLESS}
    if "samples" not in known:  # Of each round, where there are both.
        lengths["rounds"] = rounds
    return {key: n for key, n in lengths.items() if key in known} | branches


def wordy(request: Request) -> str:
    """A third fails, and every text is as long as a parser lets it be."""
    rng = random.Random(request.identity.key)
    label = f"{rng.uniform(0.5, 3):.4f}" if rng.random() < 0.66 else f"wrong_numeric {rng.random()}"
    said = rng.choice(list(STRATEGIES)) + f" {rng.random()} ".ljust(parsing.MAX_LINE, "s")
    if roles.find(request.identity.role).reads == "reflection":
        return f"Lesson: {rng.random()} {'l' * parsing.MAX_LINE}\n{'note ' * (parsing.MAX_NOTE // 5)}"
    return reply_for(request, label, said)


@dataclass
class Bare(Context):
    """Asks nobody, renders no prompt and books nothing; a second trajectory over the same answers does not even read or judge them."""

    script: Callable[[Request], str] = wordy
    answers: dict[Identity, Answer] = field(default_factory=dict)
    judged: dict[tuple[int, int, int], Attempt] = field(default_factory=dict)

    async def ask(self, role: str, brief: Brief, *, round: int, lineage: int = 0, sample: int = 0, **variables: Any) -> Answer:
        identity = Identity(self.trajectory, role, round, lineage, sample)
        if identity not in self.answers:
            self.answers[identity] = self.read(role, identity, Reply(self.script(Request((), identity, brief)), "bare"))
        return self.answers[identity]

    async def evaluate(self, answer: Answer, *, round: int, lineage: int = 0, sample: int = 0, parents: Sequence[str] = ()) -> Attempt:
        place = (round, lineage, sample)
        if place not in self.judged:
            self.judged[place] = await super().evaluate(answer, round=round, lineage=lineage, sample=sample, parents=parents)
        self.attempts[self.judged[place]["id"]] = self.judged[place]
        self.crown(self.judged[place])
        return self.judged[place]


def bare(first: Bare | None = None) -> Bare:
    """A context without a model, or one that answers as `first` was answered."""
    made = context(lambda _: "", first.recorder if first else None)
    parts = {f.name: getattr(made, f.name) for f in fields(made) if f.init}
    return Bare(**parts, answers=first.answers, judged=first.judged) if first else Bare(**parts)


@dataclass
class Walk:
    sizes: list[int]
    """Bytes of the state as JSON, after each superstep."""
    nodes: int
    """How often a node ran."""
    attempts: int
    end: str


async def walk(name: str, attempts: int, ctx: Context) -> Walk:
    """One trajectory, watched from superstep to superstep."""
    config = loader.build_config(name, options(name, attempts))
    builder = loader.build(name, config)
    limit = {"recursion_limit": trajectory.steps(len(builder.nodes), config)}
    sizes, nodes, state = list[int](), 0, dict[str, Any]()
    modes = ["values", "updates"]
    async for mode, seen in builder.compile().astream({"stop": ""}, limit, context=ctx, stream_mode=modes):  # type: ignore[call-overload]
        if mode == "values":
            sizes.append(len(json.dumps(seen)))
            state = seen
        else:
            nodes += 1
    return Walk(sizes[1:], nodes, len(ctx.attempts), state["stop"])
