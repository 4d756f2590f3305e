"""`model=replay model_args.source=runs/<id>`: replies of recorded runs, without asking anybody and at no cost.

A call is found by its identity and the digest of its request, as the journal finds it at resume; with `match=identity` by its identity
alone. Its last try is replayed, a reply or a failure, at once; what it cost then, retries included, stands beside it in the record.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from agents.journal import Journal
from agents.models.base import CallError, Identity, Reply, Request, Sampling, Usage
from agents.models.nearest import Recorded, nearest
from agents.recorder import CallRecord
from benchmark.errors import UserError, unknown

MATCHES = ("request", "identity")
WHOLE = frozenset({"provider", "counted"})
USE = "model=replay needs model_args.source=runs/<run_id>, or a list of runs"


@dataclass(frozen=True)
class Args:
    source: list[str]
    match: str = "request"

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "Args":
        for name in given:
            if name not in ("source", "match"):
                raise unknown("option in model_args for replay", name, ("source", "match"))
        source = given.get("source")
        paths = [source] if isinstance(source, str) else source
        if not isinstance(paths, list) or not paths or not all(isinstance(path, str) for path in paths):
            raise UserError(f"{USE}{'' if source is None else f'; not {source!r}'}.")
        if given.get("match", "request") not in MATCHES:
            raise unknown("value of model_args.match", str(given["match"]), MATCHES)
        return cls(paths, given.get("match", "request"))


class Replay:
    name = "replay"
    free = True

    def __init__(self, given: Mapping[str, Any]):
        args = Args.read(given)
        self.match = args.match
        self.journals = [Journal(Path(path)) for path in args.source]
        self.found: dict[Identity, list[Recorded]] = {}
        """By identity, those of a run's forks together, the newest first."""
        for journal in self.journals:
            for record in sorted(journal.settled.values(), key=lambda record: -record.identity.fork):
                self.found.setdefault(replace(record.identity, fork=0), []).append(Recorded(journal, record))
        self.recorded = [recorded for same in self.found.values() for recorded in same]
        if not self.recorded:
            raise UserError(f"Nothing to replay: no call in {self._runs()} was ever answered.")
        self.sampling = agreed([found.record.sampling for found in self.recorded])

    async def complete(self, request: Request) -> Reply:
        """The recorded reply or failure; a `CallError` of outcome `unrecorded` where there is none."""
        found, match = self._find(request)
        if found is None:
            raise self._missing(request)
        record = found.record
        note = {"match": match, **origin(found)}
        if match == "identity":
            note["differs"] = found.differs(request)
        if record.reply_sha is None:
            raise failed(record, note)
        reply = found.journal.reply(record.reply_sha)
        return replace(reply, first_token=None, usage_source=replayed(reply.usage_source), replayed=note)

    async def close(self) -> None: ...

    def _find(self, request: Request) -> tuple[Recorded | None, str]:
        """The first source that has this very request goes before one that has only its identity."""
        same = self.found.get(replace(request.identity, fork=0), [])
        exact = [found for found in same if found.record.request_sha == as_sampled(request, found.record).sha]
        if exact:
            return exact[0], "request"
        return (same[0], "identity") if same and self.match == "identity" else (None, "")

    def _missing(self, request: Request) -> CallError:
        identity = request.identity
        near = nearest(self.recorded, request)
        differs = near.differs(request) if near else None
        where = f"{identity.key} ({identity.role}, round {identity.round}) in {self._runs()}"
        if near and differs and near.record.identity == identity:
            how = f"; what is recorded there is another request ({differs['words']}), which model_args.match=identity accepts"
        elif near and differs:
            how = f"; the nearest one is {near.record.call_id} ({differs['words']})"
        else:
            how = ", nor of any call of this role"
        unanswered = any(identity in journal.tries and identity not in journal.settled for journal in self.journals)
        error = CallError(
            "unrecorded",
            f"No recording of {where}{', where it was never answered' if unanswered else ''}{how}.",
            usage=Usage(),  # Nobody was asked.
            usage_source="counted",
        )
        error.last = True
        error.replayed = {
            "match": None,
            "sources": [str(journal.path) for journal in self.journals],
            "nearest": {"run": near.journal.run_id, "call_id": near.record.call_id, **differs} if near and differs else None,
        }
        return error

    def _runs(self) -> str:
        return ", ".join(str(journal.path) for journal in self.journals)


def agreed(samplings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all recorded calls were sampled with: the recorded user fixed it, or nobody did. Where they differ, the request says it."""
    names = [f.name for f in fields(Sampling)]
    return {n: samplings[0][n] for n in names if n in samplings[0] and all(s.get(n) == samplings[0][n] for s in samplings)}


def as_sampled(request: Request, record: CallRecord) -> Request:
    """The request with the sampling that the user of the recorded run chose, for one role perhaps."""
    return replace(request, sampling=replace(request.sampling, **record.sampling))


def replayed(source: str) -> str:
    """Usage that was whole is `replayed`; what was partial or unknown then is so still."""
    return "replayed" if source in WHOLE else source


def failed(record: CallRecord, note: dict[str, Any]) -> CallError:
    error = CallError(
        record.outcome,
        record.error or record.outcome,
        usage_raw=record.usage_raw,
        usage=record.usage,
        usage_source=replayed(record.usage_source),
        request_id=record.request_id,
    )
    error.last = True
    error.replayed = note
    return error


def origin(found: Recorded) -> dict[str, Any]:
    """Where a call was recorded and what it cost there, over all its tries; a replay's own replay tells the first run's."""
    record = found.record
    if record.replayed:
        return {key: record.replayed[key] for key in ("run", "model", "tries", "usage", "cost_usd", "cost_upper")}
    tries = found.journal.tries[record.identity]
    known = [t.cost_usd for t in tries if t.cost_usd is not None]
    bounds = [t.cost_upper if t.cost_usd is None else t.cost_usd for t in tries]
    return {
        "run": found.journal.run_id,
        "model": record.model_asked,
        "tries": len(tries),
        "usage": asdict(sum((t.usage for t in tries if t.usage), Usage())),
        "cost_usd": math.fsum(known) if len(known) == len(tries) else None,
        "cost_upper": None if None in bounds else math.fsum(b for b in bounds if b is not None),
    }
