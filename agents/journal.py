"""The calls of a run as they lie on disk, read only (`docs/runs.md` has the files)."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from agents.models.base import OUTAGES, Identity, Reply, Usage
from agents.recorder import CallRecord
from benchmark.errors import UserError
from tools import jsonl


class Journal:
    """What one run asked and was answered, at the time of reading."""

    def __init__(self, path: Path):
        if not (path / "calls.jsonl").is_file():
            raise UserError(f"{path} is no run to replay: it has no calls.jsonl. Runs lie in runs/<run_id>.")
        self.path = path
        self.run_id = path.resolve().name
        lines = jsonl.read(path / "calls.jsonl").records
        self.tries: dict[Identity, list[CallRecord]] = {}
        for record in map(call_record, lines):
            self.tries.setdefault(record.identity, []).append(record)
        last = {line["call_id"]: line for line in lines}
        records = [call_record(line) for line in last.values() if settles(line)]
        self.settled = {record.identity: record for record in records}

    @property
    def choices(self) -> list[tuple[Identity, Any]]:
        """What trajectories took from outside their state."""
        return [(Identity(**line["identity"]), line["choice"]) for line in jsonl.read(self.path / "choices.jsonl").records]

    def reply(self, sha: str) -> Reply:
        return stored_reply(self._text("replies", sha))

    def prompt(self, sha: str) -> dict[str, Any]:
        """`{"messages": ..., "tools": ...}`."""
        return self._text("prompts", sha)

    def _text(self, folder: str, sha: str) -> dict[str, Any]:
        path = self.path / folder / f"{sha}.json"
        try:
            return dict(json.loads(path.read_bytes()))
        except OSError as error:
            raise UserError(f"{path} cannot be read ({error.strerror}): the run in {self.path} is not whole.") from error


def call_record(line: dict[str, Any]) -> CallRecord:
    """A line of `calls.jsonl` as the record that it was written from."""
    body = {k: v for k, v in line.items() if k not in ("schema_version", "run", "try")}
    usage = body.pop("usage")
    return CallRecord(**{**body, "try_": line["try"], "identity": Identity(**line["identity"]), "usage": Usage(**usage) if usage else None})


def settles(line: dict[str, Any]) -> bool:
    """Whether a call is over with this try: it was answered, or failed in a way that is data."""
    return line["final"] and line["outcome"] not in OUTAGES


def stored_reply(stored: dict[str, Any]) -> Reply:
    """A file of `replies/` as the reply that it was written from."""
    body = {f.name: stored[f.name] for f in fields(Reply) if f.name in stored}
    return Reply(**{**body, "usage": Usage(**stored["usage"]) if stored["usage"] else None})
