"""What batch endpoints share: the `Endpoint` protocol, and the reading of entries in the two providers' shapes."""

import json
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.models import wire
from agents.models.base import CallError, Reply, Request

TIER = "batch"
SLACK_S = 3600.0
"""How far a provider's clock may be behind ours."""
Line = dict[str, Any]
"""One request as the provider takes it, with its `custom_id`."""


class Undecided(Exception):
    """The provider cannot tell yet whether it took a batch whose submission was cut off."""


@dataclass
class Fetched:
    """What has come of a batch so far, by `custom_id`."""

    results: dict[str, Reply | CallError] = field(default_factory=dict)
    missing: CallError | None = None
    """What is to be said of a request without a result, once nothing more comes; None while the batch is under way."""


class Endpoint(Protocol):
    """Where batches are handed in. Every method raises `CallError` where the provider cannot be asked."""

    most: int
    """Requests that one batch may hold."""
    most_bytes: int

    def custom_id(self, marker: str, number: int, call: str, try_: int) -> str:
        """The id of a request within a batch; no batch of the run holds it twice."""
        ...

    def line(self, custom_id: str, request: Request) -> Line: ...

    async def submit(self, marker: str, lines: Sequence[Line]) -> str:
        """Hands a batch in and returns the provider's id of it."""
        ...

    async def find(self, marker: str, custom_ids: Collection[str], since: float, known: Collection[str]) -> str | None:
        """The provider's id of a batch that may have been handed in at `since` (Unix time) or later; None where it was not.

        `known` are the provider's ids of the run's other batches. Raises `Undecided`.
        """
        ...

    async def fetch(self, ident: str) -> Fetched: ...


def failure(status: int, error: dict[str, Any], model: str, env: str | None) -> CallError:
    """An entry that the provider could not answer, as its HTTP status says it; providers charge answers only."""
    failed = wire.failed(status, {}, json.dumps({"error": error}).encode(), model, env)
    return unbilled(failed.outcome, str(failed))


def lost(ident: str) -> CallError:
    """A request that a batch was done with and said nothing of: nobody knows whether it was charged."""
    error = CallError("5xx", f"Batch {ident} was completed without a result for this request.")
    error.tier = TIER
    return error


def unbilled(outcome: str, message: str) -> CallError:
    error = CallError(outcome, message, **wire.unbilled())
    error.tier = TIER
    return error


def entries(data: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects in the lines of a results file; a line that is none is passed over, and its request counts as missing."""
    for text in data.split(b"\n"):
        entry = wire.parsed(text.decode("utf-8", "replace"))
        if isinstance(entry, dict) and isinstance(entry.get("custom_id"), str):
            yield entry


@asynccontextmanager
async def calling(live: Any, sdk: Any) -> AsyncIterator[Any]:
    """The client of a live model, with the exceptions of its SDK as ours."""
    if live.client is None:
        live.client = live.connect()
    try:
        yield live.client
    except sdk.APIStatusError as error:
        answer = error.response
        raise wire.failed(answer.status_code, answer.headers, answer.content, live.name, live.args.api_key_env) from None
    except sdk.APIConnectionError as error:
        raise wire.broken(error, live.base_url, live.args.timeout_s) from None
