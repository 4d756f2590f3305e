"""Words and reducers of graph state: small and JSON-like. Sources, evaluations and prompts live in the run store, under the ids here."""

from typing import Annotated, Any, TypedDict


class Attempt(TypedDict):
    """A judged candidate, as far as a graph needs it to steer."""

    id: str
    round: int
    lineage: int
    sample: int
    fork: int
    """Of its evaluation's identity: 0 unless a resumed run went on with changed code, prompts or options."""
    role: str
    kernel: str | None
    """Its sha in the run store; None where the reply held no code."""
    verdict: str
    speedup: float | None
    """Measured."""
    modelled: float | None
    strategy: str
    declined: bool
    """The model said that it cannot write this operator."""


def first(old: str, new: str) -> str:
    """Reducer: the first reason wins, whichever branch of a superstep gives it."""
    return old or new


def merge(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Reducer: by key, the newer entry; branches of one superstep write different keys, so their order does not matter."""
    return {**old, **new}


class State(TypedDict, total=False):
    """What every scaffold's state has. `stop` is the end reason, empty while the search goes on."""

    stop: Annotated[str, first]
