"""`model_args.of=file`: requests are left in the run's folder as `requests.jsonl`, and whoever answers them writes `replies.jsonl`.

Requests have OpenAI's batch shape, so that a tool such as vLLM's run-batch can answer them. A reply has that shape too, or is one written
by hand: `{"custom_id": ..., "text": ...}`, with `"usage": {"input": n, "output": n}` where somebody counted.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.models import arguments, chat, wire
from agents.models.base import CallError, Reply, Request, Usage
from agents.models.batches import openai
from agents.models.batches.base import Fetched, Line
from agents.models.usage import count
from benchmark.errors import UserError
from tools import jsonl

BY_HAND = "by hand"
"""The served model of a reply that says nothing of one."""


@dataclass(frozen=True)
class Args:
    name: str = "model"
    """The model that requests name, for a server that reads it."""
    temperature: float | None = None
    max_tokens: int | None = None


class Author:
    """Whoever answers the file, as far as a run knows."""

    name = "file"

    def __init__(self, args: Mapping[str, Any]):
        self.args = arguments.read(Args, args, "file")
        self.sampling = arguments.sampling(self.args)

    def body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.args.name,
            "messages": chat.messages(request.messages),
            "max_tokens": request.sampling.max_tokens,
            "temperature": request.sampling.temperature,
            "seed": request.sampling.seed,
            "tools": [{"type": "function", "function": tool} for tool in request.tools] or None,
        }
        return {name: value for name, value in body.items() if value is not None}

    async def close(self) -> None:
        """Nothing is held."""


class Batches:
    most = 10**9
    most_bytes = 10**12

    def __init__(self, author: Author, run: Path):
        self.author = author
        self.requests = run / "requests.jsonl"
        self.replies = run / "replies.jsonl"

    def custom_id(self, marker: str, number: int, call: str, try_: int) -> str:
        return f"{call}#{try_}"

    def line(self, custom_id: str, request: Request) -> Line:
        return {"custom_id": custom_id, "method": "POST", "url": chat.ENDPOINT, "body": self.author.body(request)}

    async def submit(self, marker: str, lines: Sequence[Line]) -> str:
        """The file holds what is unanswered, and nothing else."""
        answered = read(self.replies).keys()
        waiting = {line["custom_id"]: line for line in [*jsonl.read(self.requests).records, *lines]}
        jsonl.put(self.requests, b"".join(jsonl.encode(line) + b"\n" for name, line in waiting.items() if name not in answered))
        return marker

    async def find(self, marker: str, custom_ids: Collection[str], since: float, known: Collection[str]) -> str | None:
        there = {line["custom_id"] for line in jsonl.read(self.requests).records}
        return marker if there.issuperset(custom_ids) else None

    async def fetch(self, ident: str) -> Fetched:
        return Fetched(read(self.replies))


def read(path: Path) -> dict[str, Reply | CallError]:
    """All replies by `custom_id`; the first line on an id counts. Raises UserError where a line is no reply."""
    found: dict[str, Reply | CallError] = {}
    for number, text in enumerate(path.read_text("utf-8", "replace").split("\n") if path.exists() else [], 1):
        if text.strip():
            entry = wire.parsed(text)
            if not isinstance(entry, dict) or not isinstance(entry.get("custom_id"), str):
                raise UserError(f"{path} line {number} is no JSON object with a custom_id.")
            found.setdefault(entry["custom_id"], reply(entry, f"{path} line {number}"))
    return found


def reply(entry: dict[str, Any], where: str) -> Reply | CallError:
    if isinstance(entry.get("text"), str):
        counted = entry["usage"] if isinstance(entry.get("usage"), dict) else {}
        given, output = count(counted.get("input")), count(counted.get("output"))
        known = given is not None and output is not None
        usage = Usage(input=given or 0, output=output or 0) if known else None
        return Reply(entry["text"], str(entry.get("model") or BY_HAND), usage=usage, usage_raw=counted or None,
                     usage_source="counted" if known else "unknown")  # fmt: skip
    if "response" not in entry and "error" not in entry:
        raise UserError(f"{where} has neither text nor response; docs/runs.md has both shapes of a reply.")
    return openai.read(entry, "file", None, chat.read, tier="standard")
