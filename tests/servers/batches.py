"""A real HTTP server on loopback with the batch endpoints of OpenAI and Anthropic, and their live ones for comparison.

    with BatchServer(lambda request: "text") as server:
        make("batch", {"of": "openai/any", "base_url": server.openai_url}, ...)

Every request of a batch is answered by the same function as a live one. `server.batches` are the batches that were taken, `server.asked`
the bodies of their requests, `server.bill` the usage of every reply, `server.calls` each HTTP request as "METHOD path".
"""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from agents.models.base import Usage
from tests.servers.wire import anthropic_body, openai_body, words

Fate = Callable[[int, dict[str, Any]], str]
"""What becomes of the n-th request that any batch of this server held: `ok`, `expired`, `canceled`, `missing`, or an HTTP status."""


@dataclass
class Batch:
    ident: str
    dialect: str
    entries: list[tuple[str, dict[str, Any], str]]
    """custom_id, request and fate."""
    file: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    created: float = field(default_factory=time.time)


class BatchServer:
    """`ready` False: batches taken so far and from now on are still in progress. `broken`: a reason to fail every OpenAI batch as a whole.
    `forgetful`: OpenAI's metadata are not kept.

    `refuse` maps "METHOD path" to statuses that its next requests are answered with. `pause` waits before a creation is answered, after
    the batch was taken.
    """

    def __init__(self, reply: Callable[[dict[str, Any]], str] = lambda request: "ok", fate: Fate = lambda number, request: "ok",
                 usage: Callable[[dict[str, Any], str], Usage] = words):  # fmt: skip
        self.reply, self.fate, self.usage = reply, fate, usage
        self.ready = True
        self.broken = ""
        self.forgetful = False
        self.pause = 0.0
        self.refuse: dict[str, list[int]] = {}
        self.batches: dict[str, Batch] = {}
        self.asked: list[dict[str, Any]] = []
        self.live: list[dict[str, Any]] = []
        self.bill: list[Usage] = []
        self.calls: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.files: dict[str, bytes] = {}
        self.done: dict[str, list[dict[str, Any]]] = {}
        self.lock = threading.RLock()

    def __enter__(self) -> "BatchServer":
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                served.serve(self)

            def do_POST(self) -> None:
                served.serve(self)

            def log_message(self, *_: Any) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()

    @property
    def anthropic_url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"

    @property
    def openai_url(self) -> str:
        return f"{self.anthropic_url}/v1"

    @property
    def billed(self) -> Usage:
        return sum(self.bill, Usage())

    def serve(self, http: BaseHTTPRequestHandler) -> None:
        url = urlsplit(http.path)
        body = http.rfile.read(int(http.headers.get("content-length") or 0))
        name = f"{http.command} {url.path}"
        with self.lock:
            self.calls.append(name)
            self.headers.append({key.lower(): value for key, value in http.headers.items()})
            refusals = self.refuse.get(name)
            status = refusals.pop(0) if refusals else 200
            answer: Any = {"error": {"type": "injected", "message": "injected"}}
            if status == 200:
                answer = self.route(http.command, url.path.removeprefix("/v1/").split("/"), url.query, body, http.headers)
        if http.command == "POST" and url.path.endswith("/batches"):
            time.sleep(self.pause)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        try:
            http.send_response(status)
            http.send_header("content-type", "application/json")
            http.send_header("content-length", str(len(data)))
            http.end_headers()
            http.wfile.write(data)
        except OSError:
            http.close_connection = True

    def route(self, method: str, path: list[str], query: str, body: bytes, headers: Any) -> Any:
        match (method, *path):
            case ("POST", "files"):
                return self.upload(body, headers["content-type"].partition("boundary=")[2].strip('"'))
            case ("GET", "files", name, "content"):
                return self.files[name]
            case ("POST", "batches"):
                made = json.loads(body)
                lines = [json.loads(line) for line in self.files[made["input_file_id"]].splitlines()]
                batch = self.take("openai", [(line["custom_id"], line["body"]) for line in lines])
                batch.file, batch.metadata = made["input_file_id"], {} if self.forgetful else made["metadata"]
                return self.openai(batch)
            case ("GET", "batches"):
                return {"object": "list", "data": [self.openai(b) for b in self.listed("openai")], "has_more": False}
            case ("GET", "batches", ident):
                return self.openai(self.batches[ident])
            case ("POST", "messages", "batches"):
                return self.anthropic(self.take("anthropic", [(r["custom_id"], r["params"]) for r in json.loads(body)["requests"]]))
            case ("GET", "messages", "batches"):
                return {"data": [self.anthropic(b) for b in self.listed("anthropic")], "has_more": False, "first_id": None, "last_id": None}
            case ("GET", "messages", "batches", ident):
                return self.anthropic(self.batches[ident])
            case ("GET", "messages", "batches", ident, "results"):
                return b"".join(json.dumps(line).encode() + b"\n" for line in self.results(self.batches[ident]))
            case ("POST", "chat", "completions") | ("POST", "messages"):
                request = json.loads(body)
                self.live.append(request)
                return self.answer("openai" if path[0] == "chat" else "anthropic", request, f"live-{len(self.live)}")
        raise AssertionError((method, path, parse_qs(query)))

    def upload(self, body: bytes, boundary: str) -> dict[str, Any]:
        part = next(part for part in body.split(f"--{boundary}".encode()) if b"filename=" in part)
        ident = f"file-{len(self.files)}"
        self.files[ident] = part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
        return {"id": ident, "object": "file", "bytes": len(body), "created_at": int(time.time()), "filename": "f", "purpose": "batch"}

    def take(self, dialect: str, requests: list[tuple[str, dict[str, Any]]]) -> Batch:
        entries = []
        for custom_id, request in requests:
            entries.append((custom_id, request, self.fate(len(self.asked), request)))
            self.asked.append(request)
        batch = Batch(f"{dialect}-batch-{len(self.batches)}", dialect, entries)
        self.batches[batch.ident] = batch
        return batch

    def listed(self, dialect: str) -> list[Batch]:
        """The newest first, as both providers do."""
        return [batch for batch in reversed(self.batches.values()) if batch.dialect == dialect]

    def answer(self, dialect: str, request: dict[str, Any], ident: str) -> dict[str, Any]:
        text = self.reply(request)
        usage = self.usage(request, text)
        self.bill.append(usage)
        return (openai_body if dialect == "openai" else anthropic_body)(request, text, usage, ident)

    def results(self, batch: Batch) -> list[dict[str, Any]]:
        """Lines of the results, in another order than the requests'; made, and billed, once."""
        if batch.ident not in self.done:
            line = self.openai_line if batch.dialect == "openai" else self.anthropic_line
            self.done[batch.ident] = [line(*entry) for entry in reversed(batch.entries) if entry[2] != "missing"]
        return self.done[batch.ident]

    def openai_line(self, custom_id: str, request: dict[str, Any], fate: str) -> dict[str, Any]:
        line: dict[str, Any] = {"id": "l", "custom_id": custom_id, "response": None, "error": None}
        if fate in ("expired", "canceled"):
            code = {"expired": "batch_expired", "canceled": "batch_cancelled"}[fate]
            return {**line, "error": {"code": code, "message": "not executed in time"}}
        failed = {"error": {"message": "injected", "type": "injected", "code": None}}
        body = self.answer("openai", request, custom_id) if fate == "ok" else failed
        return {**line, "response": {"status_code": 200 if fate == "ok" else int(fate), "request_id": f"req-{custom_id}", "body": body}}

    def anthropic_line(self, custom_id: str, request: dict[str, Any], fate: str) -> dict[str, Any]:
        if fate in ("expired", "canceled"):
            return {"custom_id": custom_id, "result": {"type": fate}}
        if fate != "ok":
            kind = {"400": "invalid_request_error", "429": "rate_limit_error", "529": "overloaded_error"}.get(fate, "api_error")
            error = {"type": "error", "error": {"type": kind, "message": "injected"}}
            return {"custom_id": custom_id, "result": {"type": "errored", "error": error}}
        return {"custom_id": custom_id, "result": {"type": "succeeded", "message": self.answer("anthropic", request, custom_id)}}

    def openai(self, batch: Batch) -> dict[str, Any]:
        shown = {
            "id": batch.ident, "object": "batch", "endpoint": "/v1/chat/completions", "input_file_id": batch.file,
            "completion_window": "24h", "created_at": int(batch.created), "metadata": batch.metadata, "status": "in_progress",
        }  # fmt: skip
        if self.broken:
            return {**shown, "status": "failed", "errors": {"object": "list", "data": [{"code": "invalid", "message": self.broken}]}}
        if not self.ready:
            return shown
        good = [line for line in self.results(batch) if line["response"] and line["response"]["status_code"] == 200]
        bad = [line for line in self.results(batch) if line not in good]
        for kind, lines in (("output", good), ("error", bad)):
            if lines:
                shown[f"{kind}_file_id"] = f"{kind}-{batch.ident}"
                self.files[f"{kind}-{batch.ident}"] = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        return {**shown, "status": "expired" if any(fate == "expired" for _, _, fate in batch.entries) else "completed"}

    def anthropic(self, batch: Batch) -> dict[str, Any]:
        counts = dict.fromkeys(("canceled", "errored", "expired", "processing", "succeeded"), 0)
        counts["succeeded" if self.ready else "processing"] = len(batch.entries)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(batch.created))
        return {
            "id": batch.ident, "type": "message_batch", "created_at": stamp, "expires_at": stamp, "request_counts": counts,
            "processing_status": "ended" if self.ready else "in_progress",
            "results_url": f"{self.anthropic_url}/v1/messages/batches/{batch.ident}/results" if self.ready else None,
        }  # fmt: skip
