"""A real HTTP server on loopback that speaks OpenAI's and Anthropic's dialects, fails on request, and keeps its own bill.

    with WireServer(lambda request: "text") as server:
        make("openai/any", {"base_url": server.openai_url}, ...)
        make("anthropic/any", {"base_url": server.anthropic_url}, ...)

`server.requests` are the bodies as they came, one per try; `server.bill` the usage of every reply that was charged, delivered or not;
`server.charges` the same with the number of the try, and whether its usage was told to whoever asked.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agents.models.base import Usage
from tests.servers.dialects import DIALECTS, Answer, Dialect, answer, anthropic_body, openai_body, sse

__all__ = ["Answer", "Charge", "Fault", "WireServer", "anthropic_body", "in_turn", "openai_body", "prompts", "words"]

Reply = Callable[[dict[str, Any]], str | Answer]
REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests", 500: "Internal Server Error"}
UNTOLD = ("reset", "truncate", "stall", "blank", "html", "raw", "usage")
"""Faults whose replies are charged without their true usage being told."""


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one try.

    `status` answers with `status` and `message`; `torn` the same, and cuts the body; `hang` never answers; `reset` cuts the connection
    after billing; `drop` before; `truncate` sends half of the body, or of a stream's events; `stall` the same, and then nothing more;
    `garbage` sends bytes that are no UTF-8 within the text; `blank` sends no body; `html` a web page; `raw` sends `body` as it is; `usage`
    sends the usage object `body` instead of the true one; `twin` answers under the ids of the server's first try.
    """

    kind: str
    status: int = 500
    message: str = "injected"
    code: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None


class Charge(NamedTuple):
    number: int
    """Of the try, from 0."""
    usage: Usage
    told: bool


def in_turn(*faults: Fault | None) -> Callable[[int, dict[str, Any]], Fault | None]:
    """The first tries fail as listed (None: they do not), the others do not."""
    return lambda number, request: faults[number] if number < len(faults) else None


def words(request: dict[str, Any], text: str) -> Usage:
    """Usage by counting words: a stand-in for a tokeniser that never exceeds a byte count."""
    asked = [request.get("system"), request.get("instructions"), request.get("messages"), request.get("input")]
    prompt = sum(json.dumps(part).count(" ") for part in asked if part) + 1
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
        self.charges: list[Charge] = []
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
    def bill(self) -> list[Usage]:
        return [charge.usage for charge in self.charges]

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
        if fault.kind in ("status", "torn"):
            error = {"error": {"type": fault.code or "injected", "code": fault.code or None, "message": fault.message}}
            return await self._send(writer, fault.status, [json.dumps(error).encode()], fault.headers, fault.kind)
        if path not in DIALECTS:
            return await self._send(writer, 404, [b'{"error": {"message": "no such path"}}'], {})
        said = answer(self.reply(request))
        usage = self.usage(request, said.text)
        self.charges.append(Charge(number, usage, fault.kind not in UNTOLD))
        if fault.kind == "reset":
            raise ConnectionResetError
        dialect, shown = DIALECTS[path], 0 if fault.kind == "twin" else number
        body = dialect.body(request, said, usage, f"id-{shown}")
        parts = encode(dialect, body, fault, bool(request.get("stream")))
        kind = {"html": "text/html", "blank": "application/json"}.get(fault.kind) or ("text/event-stream" if len(parts) > 1 else "")
        extra = {dialect.request_id: f"req-{shown + 1}", **({"content-type": kind} if kind else {})}
        await self._send(writer, 200, parts, extra, fault.kind)
        return None

    async def _send(self, writer: asyncio.StreamWriter, status: int, parts: list[bytes], extra: dict[str, str], fault: str = "") -> None:
        size = {"content-length": str(len(parts[0]))} if len(parts) == 1 else {"transfer-encoding": "chunked"}
        headers = {"content-type": "application/json", "x-request-id": f"req-{len(self.requests)}", **size, **extra}
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}", *(f"{name}: {value}" for name, value in headers.items())]
        cut = fault in ("truncate", "stall", "torn")
        if len(parts) == 1:
            data = parts[0][: len(parts[0]) // 2] if cut else parts[0]
        else:
            kept = parts[: len(parts) // 2] if cut else [*parts, b""]
            data = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in kept)
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        await writer.drain()
        if fault == "stall":
            await asyncio.sleep(3600)
        if cut:
            raise ConnectionResetError


def encode(dialect: Dialect, body: dict[str, Any], fault: Fault, stream: bool) -> list[bytes]:
    """A body of one piece, or the events of a stream."""
    if fault.kind == "usage":
        body["usage"] = fault.body
    if fault.kind in ("blank", "html", "raw"):
        return [{"blank": b"", "html": b"<html>hello</html>", "raw": fault.body}[fault.kind]]
    parts = sse(dialect.events(body), done=dialect is DIALECTS["/v1/chat/completions"]) if stream else [json.dumps(body).encode()]
    return [part.replace(b"GARBAGE", b"\xff\xfe\x80") for part in parts] if fault.kind == "garbage" else parts


def prompts(requests: Iterable[dict[str, Any]]) -> list[str]:
    """The last message of each request, as text, in any dialect."""
    texts = []
    for request in requests:
        content = (request.get("messages") or request["input"])[-1]["content"]
        texts.append(content if isinstance(content, str) else "".join(part.get("text", "") for part in content))
    return texts
