"""One try over HTTP through a provider's SDK, in one piece or streamed; whatever goes wrong is a `CallError`."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from agents.models import wire
from agents.models.base import CallError, Reply, Request


class Assembly(Protocol):
    """Puts the events of a stream together to the document that the endpoint sends where nobody asks for a stream."""

    done: bool
    """Whether the reply is whole."""

    def add(self, event: Mapping[str, Any]) -> bool:
        """Takes an event; true where it brought something of the answer itself, reasoning included."""
        ...

    def document(self) -> dict[str, Any]: ...


class Dialect(Protocol):
    """An endpoint's JSON. Modules implement it."""

    ENDPOINT: str
    STREAM: dict[str, Any]
    """What a body has in addition where a stream is asked for."""
    Assembly: type[Assembly]

    def read(self, data: Mapping[str, Any], request_id: str | None = None) -> Reply: ...


class Story:
    """What has come of a stream so far."""

    def __init__(self, dialect: Any):
        self.dialect = dialect
        self.assembly: Assembly = dialect.Assembly()
        self.first_token: float | None = None
        self.request_id: str | None = None

    def add(self, event: Mapping[str, Any]) -> None:
        if self.assembly.add(event) and self.first_token is None:
            self.first_token = time.time()

    def reply(self) -> Reply:
        return replace(self.dialect.read(self.assembly.document(), self.request_id), first_token=self.first_token)

    def cut(self, error: CallError) -> CallError:
        """The failure with what the stream had told until then: usage so far is partial, and the rest unknown."""
        error.first_token = self.first_token
        error.request_id = error.request_id or self.request_id
        raw = self.assembly.document().get("usage")
        if error.usage is None and isinstance(raw, dict):
            error.usage, _ = self.dialect.usage(raw)
            error.usage_raw, error.usage_source = raw, "partial" if error.usage else "unknown"
        return error


async def ask(model: Any, dialect: Any, sdk: Any, resource: Any, request: Request) -> Reply:
    """One try. `sdk` is the imported package, `resource` the client's part whose `create` is called."""
    args, story = model.args, Story(dialect)
    body = {**model.body(request), **(dialect.STREAM if args.stream else {})}
    try:
        async with asyncio.timeout(args.timeout_s), resource.with_streaming_response.create(**body) as response:
            return await _take(response, story, model.base_url)
    except sdk.APIStatusError as error:
        answer = error.response
        raise wire.failed(answer.status_code, answer.headers, answer.content, model.name, args.api_key_env) from None
    except CallError as error:
        raise story.cut(error) from None
    except Exception as error:
        if not isinstance(error, sdk.APIConnectionError | TimeoutError) and not transport(error):
            raise
        raise story.cut(wire.broken(error, model.base_url, args.timeout_s)) from None


def transport(error: Exception) -> bool:
    """Whether an error is the HTTP library's: while a body is read, the SDKs hand on what it raises, of whichever version they use."""
    return type(error).__module__.partition(".")[0].startswith("httpx")


async def _take(response: Any, story: Story, url: str) -> Reply:
    headers = response.headers
    story.request_id = headers.get("x-request-id") or headers.get("request-id")
    if "event-stream" not in headers.get("content-type", ""):
        return story.dialect.read(wire.document(await response.read(), headers), story.request_id)
    async for event in events(response.iter_bytes()):
        story.add(event)
    if not story.assembly.done and "error" not in story.assembly.document():
        raise CallError("cut_stream", f"The stream from {url} ended before its reply was whole.")
    return story.reply()


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """Server-sent events whose data is a JSON object; bytes that are no UTF-8 are replaced, as in a body of one piece.

    The SDKs' own decoders give up a reply that was paid for on its first strange byte.
    """
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                event = wire.parsed(line[5:].decode("utf-8", "replace").strip())
                if isinstance(event, dict):
                    yield event
