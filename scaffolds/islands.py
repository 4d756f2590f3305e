"""Islands of an evolution: what the next child is made from, and what becomes of an island with it. No model, no executor is asked here."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from agents.counts import Counts
from agents.plans import Diagnosis
from agents.rules import allowed, readings
from agents.strategies import STRATEGIES, family
from scaffolds import archive, tuning
from scaffolds.archive import Archive, Arms
from scaffolds.rank import ordered, pace
from scaffolds.state import Attempt

if TYPE_CHECKING:
    from scaffolds.context import Context
    from scaffolds.evolve import Config

Operator = Literal["generate", "mutate", "recombine", "restructure", "tune"]
STRUCTURES = [name for name in STRATEGIES if name != "launch"]
"""Families that a program can be built on; launch parameters alone make no program."""
TOLD = 120
"""Characters of why one failed."""
TRIED = 6
"""Newest outcomes that an island's authors are told."""


class Island(TypedDict):
    archive: Archive
    children: int
    """That were brought to an end: the round of the next one."""
    grown: int
    """Of these, the ones that passed; they alone count for migration."""
    stale: int
    """Children since the last gain."""
    best: float | None
    """The speed that a gain is measured from."""
    tried: list[str]
    """What became of the newest children, in sentences."""


class Child(TypedDict):
    operator: Operator
    family: str
    """That it shall belong to, or nothing."""
    arms: list[str]
    """Of the bandit, that chose its parent and its family."""
    parents: list[Attempt]
    share: int
    """Attempts that it may cost in this step."""
    round: int
    sample: int
    """0, and one more with each repair."""
    failed: Attempt | None
    """The newest program to be repaired."""
    answer: dict[str, Any] | None
    """As `Answer` has it, until it is judged."""
    judged: list[Attempt]
    """In this step."""


def conceive(
    config: "Config", context: "Context", islands: list[Island], n: int, arms: Arms, tunable: Callable[[Attempt], bool] | None
) -> Child:
    """The next child of island `n`. One that has died out, or has stopped gaining, builds on a living one's best by another algorithm."""
    island, tie = islands[n], context.rng.random
    ring = [islands[(n - step) % len(islands)]["archive"] for step in range(len(islands))]
    living = next((programs for programs in ring if programs), None)
    if living is None:
        return begun(island, "generate", archive.choose(arms, STRUCTURES, tie))
    best = archive.elites(living)[0]
    if not island["archive"] or (island["stale"] and island["stale"] % config.patience == 0):
        used = {cell.partition("/")[0] for cell in living}
        fresh = [name for name in allowed(context.digest(best), context.hardware) if name in STRUCTURES and name not in used]
        return begun(island, "restructure", archive.choose(arms, fresh or STRUCTURES, tie), [best])
    if island["stale"] and tunable and tunable(best):
        return {**begun(island, "tune", "", [best]), "arms": [], "share": config.tune}
    cell = archive.choose(arms, living, tie)
    others = [name for name in living if name != cell]
    if others and tie() < config.crossover:
        other = archive.choose(arms, others, tie)
        return {**begun(island, "recombine", "", ordered([living[cell], living[other]])), "arms": [cell, other]}
    chosen = archive.choose(arms, helpful(config, context, living[cell]), tie)
    return {**begun(island, "mutate", chosen, [living[cell]]), "arms": [cell, chosen]}


def helpful(config: "Config", context: "Context", parent: Attempt) -> list[str]:
    """Families that no rule masks, and of them those that serve a bottleneck that the parent's counts show.

    Launch parameters alone are an author's only where tuning finds none in the text.
    """
    digest = context.digest(parent)
    swept = config.tune and next(tuning.proposals(context, context.recorder.kernel(parent["kernel"] or "")), None)
    left = [name for name in allowed(digest, context.hardware) if name in STRUCTURES or not swept]
    shown = {reading.bottleneck for reading in readings(digest, context.hardware)}
    return [name for name in left if STRATEGIES[name].serves & shown] or left or STRUCTURES


def bottleneck(context: "Context", parent: Attempt, family: str) -> Diagnosis | None:
    """What of a parent's counts the family may mend."""
    found = readings(context.digest(parent), context.hardware)
    return next((reading for reading in found if reading.bottleneck in STRATEGIES[family].serves), None)


def begun(island: Island, operator: Operator, family: str, parents: Sequence[Attempt] = ()) -> Child:
    return Child(
        operator=operator, family=family, arms=[family], parents=list(parents), share=1, round=island["children"], sample=0, failed=None,
        answer=None, judged=[],
    )  # fmt: skip


def again(config: "Config", child: Child) -> Child | None:
    """The child with a repair to be asked for; None where there is nothing to repair, or no repair left."""
    attempt = child["judged"][-1] if child["judged"] else None
    if child["operator"] == "tune" or attempt is None or attempt["declined"] or attempt["verdict"] in ("pass", "task_invalid"):
        return None
    # A repair that brought no new program leaves the one before to be repaired.
    failed = attempt if attempt["kernel"] else child["failed"]
    if failed is None or child["sample"] >= config.repairs:
        return None
    return {**child, "failed": failed, "sample": child["sample"] + 1, "judged": []}


def brought_up(config: "Config", context: "Context", island: Island, child: Child) -> tuple[Island, float]:
    """The island after a child that is done with, and the reward of the arms that led to it."""
    passed = [attempt for attempt in child["judged"] if attempt["verdict"] == "pass"]
    programs = archive.insert(island["archive"], [(cell_of(context, attempt), attempt) for attempt in passed], config.cells)
    speed, before = top(programs.values()), top([*island["archive"].values(), *child["parents"]])
    gained = speed is not None and (island["best"] is None or speed > island["best"] * (1 + config.noise))
    after = Island(
        archive=programs,
        children=island["children"] + 1,
        grown=island["grown"] + bool(passed),
        stale=0 if gained else island["stale"] + 1,
        best=speed if gained else island["best"],
        tried=[*island["tried"], *outcome(context, child, top(passed), before)][-TRIED:],
    )
    return after, archive.reward(top(passed), before)


def top(attempts: Iterable[Attempt]) -> float | None:
    """The speed of the best one; None of none."""
    best = ordered(attempts)[:1]
    return pace(best[0]) if best else None


def cell_of(context: "Context", attempt: Attempt) -> str:
    """What was only tuned is of its parent's family."""
    strategy = attempt["strategy"].partition(tuning.MARK)[0]
    source = context.recorder.kernel(attempt["kernel"] or "")
    return archive.cell(family(strategy, source), Counts.of(context.digest(attempt)))


def outcome(context: "Context", child: Child, reached: float | None, before: float | None) -> list[str]:
    """What later authors of the island are told of a child; nothing of what tuning does, which they need not try."""
    if child["operator"] == "tune" or not child["judged"] or before is None:
        return []
    what, last = f"`{child['family']}`" if child["family"] else "To combine two modules", child["judged"][-1]
    if last["verdict"] == "pass":
        return [f"{what} gave {reached / before:.2f} times the speed of the best module before it."] if reached else []
    repairs = f" and {child['sample']} of repair" if child["sample"] else ""
    why = context.digest(last)["message"][:TOLD]
    return [f"{what} ended with {last['verdict']} after one attempt{repairs}{': ' + why if why else '.'}"]
