"""A real HTTP server on loopback that speaks OpenAI's and Anthropic's dialects, fails on request, and keeps its own bill.

    with WireServer(lambda request: "text") as server:
        make("openai/any", {"base_url": server.openai_url}, ...)
        make("anthropic/any", {"base_url": server.anthropic_url}, ...)

`server.requests` are the bodies as they came, one per try; `server.bill` the usage of every reply that was charged, delivered or not.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from agents.models.base import Usage

Reply = Callable[[dict[str, Any]], str]
REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one try.

    `status` answers with `status` and `message`; `hang` never answers; `reset` cuts the connection after billing; `drop` before;
    `truncate` sends half of the body; `garbage` sends bytes that are no UTF-8 within the text; `blank` sends no body; `html` a web page;
    `raw` sends `body` as it is; `usage` sends the usage object `body` instead of the true one.
    """

    kind: str
    status: int = 500
    message: str = "injected"
    code: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None


def in_turn(*faults: Fault | None) -> Callable[[int, dict[str, Any]], Fault | None]:
    """The first tries fail as listed (None: they do not), the others do not."""
    return lambda number, request: faults[number] if number < len(faults) else None


def words(request: dict[str, Any], text: str) -> Usage:
    """Usage by counting words: a stand-in for a tokeniser that never exceeds a byte count."""
    prompt = json.dumps([request.get("system"), request["messages"]]).count(" ") + 1
    return Usage(input=prompt, output=len(text.split()) + 1)


class WireServer:
    def __init__(
        self,
        reply: Reply = lambda request: "ok",
        faults: Callable[[int, dict[str, Any]], Fault | None] = lambda number, request: None,
        usage: Callable[[dict[str, Any], str], Usage] = words,
        delay_s: float = 0.0,
    ):
        self.reply = reply
        self.faults = faults
        self.usage = usage
        self.delay_s = delay_s
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.bill: list[Usage] = []
        self.peak = 0
        """The most requests that were in the server at once."""
        self._inside = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "WireServer":
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *exc: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    @property
    def openai_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def billed(self) -> Usage:
        return sum(self.bill, Usage())

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", 0, limit=2**24))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
                body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
                self._inside += 1
                self.peak = max(self.peak, self._inside)
                try:
                    await self._answer(head[0].split()[1], headers, body, writer)
                finally:
                    self._inside -= 1
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, headers: dict[str, str], request: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        number = len(self.requests)
        self.requests.append(request)
        self.headers.append(headers)
        await asyncio.sleep(self.delay_s)
        fault = self.faults(number, request) or Fault("")
        if fault.kind == "hang":
            await asyncio.sleep(3600)
        if fault.kind == "drop":
            raise ConnectionResetError
        if fault.kind == "status":
            error = {"error": {"type": fault.code or "injected", "code": fault.code or None, "message": fault.message}}
            return await self._send(writer, fault.status, json.dumps(error).encode(), fault.headers)
        if path not in ("/v1/chat/completions", "/v1/messages"):
            return await self._send(writer, 404, b'{"error": {"message": "no such path"}}')
        text = self.reply(request)
        usage = self.usage(request, text)
        self.bill.append(usage)
        if fault.kind == "reset":
            raise ConnectionResetError
        shape = openai_body if path == "/v1/chat/completions" else anthropic_body
        body = encode(shape(request, text, usage, f"id-{number}"), fault)
        page = {"content-type": "text/html"} if fault.kind == "html" else {}
        await self._send(writer, 200, body, page, cut=fault.kind == "truncate")
        return None

    async def _send(
        self, writer: asyncio.StreamWriter, status: int, body: bytes, extra: dict[str, str] | None = None, cut: bool = False
    ) -> None:
        headers = {
            "content-type": "application/json",
            "content-length": str(len(body)),
            "x-request-id": f"req-{len(self.requests)}",
            **(extra or {}),
        }
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", *(f"{name}: {value}" for name, value in headers.items())]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + (body[: len(body) // 2] if cut else body))
        await writer.drain()
        if cut:
            raise ConnectionResetError


def encode(data: dict[str, Any], fault: Fault) -> bytes:
    if fault.kind == "usage":
        data["usage"] = fault.body
    if fault.kind in ("blank", "html", "raw"):
        return {"blank": b"", "html": b"<html>hello</html>", "raw": fault.body}[fault.kind]
    body = json.dumps(data).encode()
    return body.replace(b"GARBAGE", b"\xff\xfe\x80") if fault.kind == "garbage" else body


def openai_body(request: dict[str, Any], text: str, usage: Usage, ident: str) -> dict[str, Any]:
    prompt = usage.total - usage.output
    written = usage.cache_write_5m + usage.cache_write_1h
    return {
        "id": ident, "object": "chat.completion", "created": 0, "model": request["model"] + "-served", "service_tier": "default",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {
            "prompt_tokens": prompt, "completion_tokens": usage.output, "total_tokens": usage.total,
            "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": written},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        },
    }  # fmt: skip


def anthropic_body(request: dict[str, Any], text: str, usage: Usage, ident: str) -> dict[str, Any]:
    return {
        "id": ident, "type": "message", "role": "assistant", "model": request["model"] + "-served",
        "stop_reason": "end_turn", "stop_sequence": None,
        "content": [{"type": "text", "text": text}],
        "usage": {
            "input_tokens": usage.input, "output_tokens": usage.output,
            "cache_read_input_tokens": usage.cache_read, "cache_creation_input_tokens": usage.cache_write_5m + usage.cache_write_1h,
            "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_write_5m, "ephemeral_1h_input_tokens": usage.cache_write_1h},
            "output_tokens_details": {"thinking_tokens": usage.reasoning}, "service_tier": "standard",
        },
    }  # fmt: skip


def prompts(requests: Iterable[dict[str, Any]]) -> list[str]:
    """The last message of each request, as text, in either dialect."""
    texts = []
    for request in requests:
        content = request["messages"][-1]["content"]
        texts.append(content if isinstance(content, str) else "".join(part.get("text", "") for part in content))
    return texts
