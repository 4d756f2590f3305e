"""Tuning without a model: the launch parameters of a settled kernel are swept, and each variant is judged as an attempt of its own."""

import asyncio
from collections.abc import Container, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from agents import sweep
from agents.likeness import fingerprint
from agents.parsing import MAX_LINE
from agents.sweep import TUNER, Trial, Variant
from scaffolds.rank import pace
from scaffolds.state import Attempt

if TYPE_CHECKING:
    from scaffolds.context import Context

WIDTH = 4
"""Variants that are judged side by side before the next are chosen."""
MARK = "; launch: "
"""Between the settled kernel's strategy and what was changed in it."""


async def tune(
    context: "Context", settled: Attempt, evaluations: int, *, round: int, lineage: int = 0, first: int = 1, width: int = WIDTH,
    known: Container[str] = (),
) -> list[Attempt]:  # fmt: skip
    """The variants of a settled attempt that were judged, in the order of their samples: `first`, `first` + 1, ...

    Takes at most `evaluations`, and none where the attempt has no speed to improve on or no parameter to vary; passes over what is
    `known` by its fingerprint. It draws nothing and asks nobody. Raises what `Context.evaluate` raises, once all variants of the step
    have settled.
    """
    speed, made = pace(settled), list[Attempt]()
    if settled["verdict"] != "pass" or settled["kernel"] is None or speed is None:
        return made
    source = context.recorder.kernel(settled["kernel"])
    tried = [Trial(sweep.origin(sweep.parameters(source, context.hardware)), speed, "pass")]
    while variants := list(islice(proposals(context, source, tried, known), min(width, evaluations - len(made)))):
        judged = await judge(context, settled, variants, round, lineage, first + len(made))
        tried += [Trial(v.values, pace(a), a["verdict"]) for v, a in zip(variants, judged, strict=True)]
        made += judged
    return made


def proposals(context: "Context", source: str, tried: Sequence[Trial] = (), known: Container[str] = ()) -> Iterator[Variant]:
    """What would be judged next of a source."""
    return (variant for variant in sweep.proposals(source, tried, context.hardware) if fingerprint(variant.source) not in known)


async def judge(context: "Context", settled: Attempt, variants: Sequence[Variant], round: int, lineage: int, first: int) -> list[Attempt]:
    from scaffolds.context import Answer  # Not at the top: a scaffold's options are read without torch.

    base = settled["strategy"].partition(MARK)[0].rstrip(".")
    under = [
        context.evaluate(
            Answer.made(TUNER, context.recorder.put_kernel(v.source), f"{base}{MARK}{v.says}"[:MAX_LINE]),
            round=round,
            lineage=lineage,
            sample=first + n,
            parents=[settled["id"]],
        )
        for n, v in enumerate(variants)
    ]
    # A failure waits for its siblings: what they have begun is paid for, and enters the run.
    ended = await asyncio.gather(*under, return_exceptions=True)
    for attempt in ended:
        if isinstance(attempt, BaseException):
            raise attempt
    return [attempt for attempt in ended if not isinstance(attempt, BaseException)]
