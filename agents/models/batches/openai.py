"""OpenAI's batches, at OpenAI or at any endpoint that speaks the same dialect: a file of requests goes up, files of replies come down."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from agents.models import wire
from agents.models.base import CallError, Reply, Request
from agents.models.batches.base import SLACK_S, TIER, Fetched, Line, calling, entries, failure, lost, unbilled
from agents.models.openai import HOME, OpenAI
from tools import jsonl

Read = Callable[[Mapping[str, Any], str | None], Reply]
KEY = "kernelwright"
"""Name of the metadata by which a batch is found again."""
STATUS = {"batch_expired": "timeout", "batch_cancelled": "cancelled"}
"""Outcomes of entries that were never tried, by their code."""


class Batches:
    most = 50_000
    most_bytes = 200_000_000

    def __init__(self, live: OpenAI):
        self.live = live

    def custom_id(self, marker: str, number: int, call: str, try_: int) -> str:
        return f"{marker}-{number}"

    def line(self, custom_id: str, request: Request) -> Line:
        return {"custom_id": custom_id, "method": "POST", "url": self.live.endpoint, "body": self.live.body(request)}

    async def submit(self, marker: str, lines: Sequence[Line]) -> str:
        data = b"".join(jsonl.encode(line) + b"\n" for line in lines)
        async with self.client() as client:
            file = await client.files.create(file=(f"{marker}.jsonl", data), purpose="batch")
            made = await client.batches.create(
                input_file_id=file.id, endpoint=self.live.endpoint, completion_window="24h", metadata={KEY: marker}
            )
        return str(made.id)

    async def find(self, marker: str, custom_ids: Collection[str], since: float, known: Collection[str]) -> str | None:
        """By the metadata; where another server forgets them, by the ids in the file that went up."""
        async with self.client() as client:
            async for batch in client.batches.list(limit=100):
                if batch.created_at < since - SLACK_S:
                    break
                if batch.metadata or self.live.base_url == HOME:
                    ours = (batch.metadata or {}).get(KEY) == marker
                else:
                    data = b"" if batch.id in known else await content(client, batch.input_file_id)
                    ours = any(line["custom_id"] in custom_ids for line in entries(data))
                if ours:
                    return str(batch.id)
        return None

    async def fetch(self, ident: str) -> Fetched:
        async with self.client() as client:
            batch = await client.batches.retrieve(ident)
            if batch.status not in ("completed", "expired", "cancelled", "failed"):
                return Fetched()
            files = [name for name in (batch.output_file_id, batch.error_file_id) if name]
            data = [await content(client, name) for name in files]
        live = self.live
        lines = [line for part in data for line in entries(part)]
        return Fetched({line["custom_id"]: read(line, live.name, live.args.api_key_env, live.read) for line in lines}, missing(batch))

    def client(self) -> AbstractAsyncContextManager[Any]:
        import openai as sdk

        return calling(self.live, sdk)


async def content(client: Any, file: str) -> bytes:
    return bytes((await client.files.content(file)).content)


def missing(batch: Any) -> CallError:
    """What became of the requests that a batch at its end has no line for."""
    if batch.status == "completed":
        return lost(batch.id)
    reasons = batch.errors.data if batch.errors and batch.errors.data else []
    said = wire.clean("; ".join(f"{reason.code}: {reason.message}" for reason in reasons))
    outcome = {"expired": "timeout", "cancelled": "cancelled"}.get(batch.status, "bad_request")
    return unbilled(outcome, f"Batch {batch.id} {batch.status}{f': {said}' if said else ''}.")


def read(entry: dict[str, Any], model: str, env: str | None, body_of: Read, tier: str = TIER) -> Reply | CallError:
    """What a line of an output or error file says; `body_of` reads a reply of status 200."""
    response, error = entry.get("response"), entry.get("error")
    if not isinstance(response, dict):
        error = error if isinstance(error, dict) else {}
        code = str(error.get("code") or "no reason")
        return unbilled(STATUS.get(code, "5xx"), f"{model}: {code}: {error.get('message') or 'no message'}")
    status, body = response.get("status_code"), response.get("body")
    body = body if isinstance(body, dict) else {}
    if status != 200:
        error = body.get("error")
        return failure(status if isinstance(status, int) else 500, error if isinstance(error, dict) else body, model, env)
    try:
        reply = body_of(body, response.get("request_id"))
    except CallError as caught:
        caught.tier = tier
        return caught
    reply.tier = tier
    return reply
