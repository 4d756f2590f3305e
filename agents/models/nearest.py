"""How far a request is from a recorded one, and which recorded one is the nearest."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any

from agents.journal import Journal
from agents.models.base import Identity, Request
from agents.recorder import CallRecord


@dataclass(eq=False)
class Recorded:
    """A settled call of a run."""

    journal: Journal
    record: CallRecord

    @cached_property
    def prompt(self) -> tuple[list[str], list[dict[str, Any]]]:
        """Lines of the messages, and tools."""
        body = self.journal.prompt(self.record.prompt_sha)
        return lines(body["messages"]), body["tools"]

    def differs(self, request: Request) -> dict[str, Any]:
        """What the request has otherwise: lines of its messages, sampling (asked, recorded), tools; `words` says it."""
        old, tools = self.prompt
        new = lines(request.messages)
        added, removed = counts(old, new)
        sampling = {k: [v, self.record.sampling.get(k)] for k, v in asdict(request.sampling).items() if v != self.record.sampling.get(k)}
        other_tools = json.dumps(list(request.tools), sort_keys=True) != json.dumps(tools, sort_keys=True)
        parts = [f"+{added} -{removed} of {len(old)} lines"] * bool(added or removed)
        parts += [f"{name} {asked} for {was}" for name, (asked, was) in sampling.items()] + ["other tools"] * other_tools
        words = ", ".join(parts) or "the same request"
        return {"added": added, "removed": removed, "lines": len(old), "sampling": sampling, "tools": other_tools, "words": words}


def nearest(recorded: Sequence[Recorded], request: Request) -> Recorded | None:
    """The recorded call whose prompt has the most lines in common: of the same identity, else of the role, on the task if there is one."""
    new = lines(request.messages)
    best: Recorded | None = None
    share = -1.0
    for found in peers(recorded, request.identity):
        matcher = SequenceMatcher(None, found.prompt[0], new, autojunk=False)
        if matcher.real_quick_ratio() > share and matcher.quick_ratio() > share and matcher.ratio() > share:
            best, share = found, matcher.ratio()
    return best


def peers(recorded: Sequence[Recorded], identity: Identity) -> list[Recorded]:
    task = identity.trajectory.rpartition("@")[0]
    role = [r for r in recorded if r.record.identity.role == identity.role]
    same = [r for r in role if r.record.identity == identity]
    return same or [r for r in role if r.record.identity.trajectory.rpartition("@")[0] == task] or role


def lines(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Text by lines; what is no text (calls of tools) as JSON."""
    made: list[str] = []
    for message in messages:
        rest = {k: v for k, v in message.items() if k != "content"}
        content = message["content"]
        made += [json.dumps(rest, sort_keys=True), *(content.splitlines() if isinstance(content, str) else [json.dumps(content)])]
    return made


def counts(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Lines added and removed."""
    added = removed = 0
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            added, removed = added + m - k, removed + j - i
    return added, removed
