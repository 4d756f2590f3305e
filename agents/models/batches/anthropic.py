"""Anthropic's message batches. They carry no mark of ours but the ids of their requests, which are shown only once a batch has ended."""

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from agents.models.anthropic import Anthropic
from agents.models.base import CallError, Reply, Request
from agents.models.batches.base import SLACK_S, TIER, Fetched, Line, Undecided, calling, entries, failure, lost, unbilled
from agents.models.usage import part

UNANSWERED = {"expired": "timeout", "canceled": "cancelled"}
STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
    "request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}  # fmt: skip
"""HTTP statuses that the kinds of errors stand for."""


class Batches:
    most = 100_000
    most_bytes = 256_000_000

    def __init__(self, live: Anthropic):
        self.live = live

    def custom_id(self, marker: str, number: int, call: str, try_: int) -> str:
        return f"{marker}-{number}"

    def line(self, custom_id: str, request: Request) -> Line:
        return {"custom_id": custom_id, "params": self.live.body(request)}

    async def submit(self, marker: str, lines: Sequence[Line]) -> str:
        async with self.client() as client:
            made = await client.messages.batches.create(requests=list(lines))
        return str(made.id)

    async def find(self, marker: str, custom_ids: Collection[str], since: float, known: Collection[str]) -> str | None:
        """Compares the ids in the results of every batch that may be ours, which takes until those have ended."""
        running = []
        async with self.client() as client:
            async for batch in client.messages.batches.list(limit=100):
                counts = batch.request_counts
                total = counts.canceled + counts.errored + counts.expired + counts.processing + counts.succeeded
                if batch.created_at.timestamp() < since - SLACK_S:
                    break
                if batch.id in known or total != len(custom_ids):
                    continue
                if batch.processing_status != "ended":
                    running.append(str(batch.id))
                elif any(entry["custom_id"] in custom_ids for entry in entries(await results(client, batch.id))):
                    return str(batch.id)
        if running:
            raise Undecided(f"{self.live.name} shows whether it took batch {marker} once {', '.join(running)} ended")
        return None

    async def fetch(self, ident: str) -> Fetched:
        async with self.client() as client:
            batch = await client.messages.batches.retrieve(ident)
            if batch.processing_status != "ended":
                return Fetched()
            data = await results(client, ident)
        return Fetched({entry["custom_id"]: read(entry, self.live) for entry in entries(data)}, missing=lost(ident))

    def client(self) -> AbstractAsyncContextManager[Any]:
        import anthropic as sdk

        return calling(self.live, sdk)


async def results(client: Any, ident: str) -> bytes:
    decoder = await client.messages.batches.results(ident)
    return bytes(await decoder.http_response.aread())


def read(entry: dict[str, Any], live: Anthropic) -> Reply | CallError:
    """What a line of a results file says."""
    result = entry["result"] if isinstance(entry.get("result"), dict) else {}
    kind = str(result.get("type"))
    if kind == "succeeded" and isinstance(result.get("message"), dict):
        reply = live.read(result["message"])
        reply.tier = TIER
        return reply
    if kind in UNANSWERED:
        return unbilled(UNANSWERED[kind], f"{live.name}: the request {kind} in its batch.")
    error = part(result, "error", "error")
    inner = error if isinstance(error, dict) else {}
    return failure(STATUS.get(str(inner.get("type")), 500), inner, live.name, live.args.api_key_env)
