"""Calls that wait for a batch: they park, go to the provider together, and their replies enter the books at a later start of the run.

`batches.jsonl` in the run's folder is the journal: a batch is `intended`, with all its entries, before it is handed in, `submitted` once
the provider has named it, and `ended` when every entry is in the books. What was intended and not submitted, because the run was killed
in between, is looked for at the provider before it is handed in again.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from agents.budget import Hold
from agents.caller import Caller, CallFailed, Parked, Question, again
from agents.models.base import OUTAGES, Brief, CallError, Identity, Reply, Request, Sampling
from agents.models.batch import Batch
from agents.models.batches.base import TIER, Fetched, Line, Undecided
from benchmark.errors import UserError
from tools import jsonl

T = TypeVar("T")
Parse = Callable[[Identity, Reply], str]


@dataclass(eq=False)
class Entry:
    """One request of a batch, from the moment it is asked for."""

    question: Question
    hold: Hold | None = None
    """None while the budget has no room for it."""
    custom_id: str = ""
    """Given when it goes into a batch."""
    try_: int = 0
    call: "asyncio.Future[Reply] | None" = None
    """Who waits for it in this start."""

    @property
    def request(self) -> Request:
        return self.question.request

    @property
    def key(self) -> str:
        return self.request.identity.key


@dataclass
class Sheet:
    """A batch that is not over. `ident` is the provider's name of it; None while nobody knows whether it was handed in."""

    marker: str
    entries: dict[str, Entry]
    """By `custom_id`."""
    since: float
    """Unix time at which it was intended, or last handed in."""
    ident: str | None = None
    doubtful: bool = False
    """An earlier submission may have arrived."""


class Lot:
    """The calls of a run that wait. Implements `agents.caller.Lot`."""

    grace_s = 15.0
    """How long after a submission that was cut off the provider may still not list it."""

    def __init__(self, run: Path, model: Batch, caller: Caller):
        self.run = run
        self.model = model
        self.caller = caller
        self.endpoint = model.endpoint(run)
        self.parked: dict[str, Entry] = {}
        """By the call's key, in this start."""
        self.failed: dict[str, CallFailed] = {}
        """Calls of this start that could not be asked; a later start asks them again."""
        self.sheets: dict[str, Sheet] = {}
        self.doubt = ""
        """Why nobody can tell yet whether a batch was handed in."""
        self.news = False
        """Whether this start found anything in a batch."""
        self.left = False
        self.crowded = 0
        """Calls that left because the budget has no room beside those in a batch."""
        loaded = jsonl.read(run / "batches.jsonl")
        self.journal = jsonl.Lines(run / "batches.jsonl", loaded.size if loaded.torn else None)
        self.known = {line["ident"] for line in loaded.records if line["event"] == "submitted"}
        self.ids = {entry["custom_id"] for line in loaded.records if line["event"] == "intended" for entry in line["entries"]}
        self.strays: set[str] = set()
        """Ids of replies that nobody asked for."""
        self.restore(loaded.records)

    @property
    def waiting(self) -> int:
        """Requests that are with the provider, or will be."""
        return sum(len(sheet.entries) for sheet in self.sheets.values())

    @property
    def open(self) -> bool:
        """Whether a later start has something to go on with."""
        return bool(self.waiting or self.crowded)

    def close(self) -> None:
        self.journal.close()

    # What trajectories do.

    async def park(self, question: Question) -> Reply:
        """Raises `Parked`, `BudgetExhausted`, or `CallFailed` where this start learnt that the request cannot be asked."""
        key = question.request.identity.key
        if self.left:
            raise Parked
        if key in self.failed:
            raise self.failed[key]
        entry = self.entry(question)
        entry.call = asyncio.get_running_loop().create_future()
        self.parked[key] = entry
        try:
            if entry.hold is None:
                await self.reserve(entry, entry.call)
            return await entry.call
        except BaseException:
            self.parked.pop(key, None)
            if entry.hold is not None and not entry.custom_id:
                self.caller.ledger.release(entry.hold)
            raise

    def asked(self, identity: Identity) -> str | None:
        return next((entry.request.sha for entry in self.entries() if entry.request.identity == identity), None)

    def entry(self, question: Question) -> Entry:
        """The one that is with the provider since an earlier start, or a new one."""
        identity = question.request.identity
        return next((entry for entry in self.entries() if entry.request.identity == identity), Entry(question))

    async def reserve(self, entry: Entry, call: "asyncio.Future[Reply]") -> None:
        """Holds the bound; while the budget has no room the call waits as if it were parked, and leaves with the others."""
        room = asyncio.create_task(self.caller.ledger.reserve_call(self.model, entry.request, TIER))
        try:
            waits: list[asyncio.Future[Any]] = [room, call]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not room.done():
                room.cancel()
        if room.done():
            entry.hold = room.result()

    def idle(self, trajectories: Iterable[str]) -> bool:
        """Whether each of these has a call that waits here."""
        there = {entry.request.identity.trajectory for entry in self.parked.values()}
        return there.issuperset(trajectories)

    def leave(self) -> None:
        """Ends this start for all that wait."""
        self.left = True
        self.crowded = sum(entry.hold is None for entry in self.parked.values())
        for entry in self.parked.values():
            if entry.call is not None and not entry.call.done():
                entry.call.set_exception(Parked())
                entry.call.exception()  # Fetched: the graph may cancel who waits before it sees this.

    # What goes to the provider.

    async def submit(self) -> None:
        """Hands in what is parked and not with the provider yet."""
        new = [entry for _, entry in sorted(self.parked.items()) if entry.hold is not None and not entry.custom_id]
        sheets = [self.intend(part) for part in self.parts(new)]
        for sheet in sheets:
            await self.deliver(sheet)

    def parts(self, entries: list[Entry]) -> Iterator[list[Entry]]:
        """As many entries as the provider takes at once: nearly always all."""
        part: list[Entry] = []
        size = 0
        for entry in entries:
            length = len(jsonl.encode(self.endpoint.line(" " * 64, entry.request)))
            if part and (len(part) >= self.endpoint.most or size + length > self.endpoint.most_bytes):
                yield part
                part, size = [], 0
            part.append(entry)
            size += length
        if part:
            yield part

    def intend(self, entries: list[Entry]) -> Sheet:
        """Writes down what is about to be handed in."""
        marker = secrets.token_hex(8)
        for number, entry in enumerate(entries):
            entry.try_ = self.caller.recorder.recorded_tries(entry.request.identity) + 1
            entry.custom_id = self.endpoint.custom_id(marker, number, entry.key, entry.try_)
            self.ids.add(entry.custom_id)
        sheet = Sheet(marker, {entry.custom_id: entry for entry in entries}, time.time())
        self.sheets[marker] = sheet
        self.write("intended", marker, of=self.model.name, entries=[described(entry) for entry in entries])
        return sheet

    async def deliver(self, sheet: Sheet) -> None:
        """Hands a batch in, once. Raises UserError where the provider does not take it."""

        async def attempt() -> str:
            if sheet.doubtful and (found := await self.find(sheet)):
                return found
            sheet.doubtful, sheet.since = True, time.time()
            try:
                return await self.endpoint.submit(sheet.marker, self.lines(sheet))
            except CallError as error:
                sheet.doubtful = error.usage is None
                raise

        try:
            sheet.ident = await self.patiently(attempt)
        except Undecided as undecided:
            self.doubt = str(undecided)
            return
        self.known.add(sheet.ident)
        self.write("submitted", sheet.marker, ident=sheet.ident)

    async def find(self, sheet: Sheet) -> str | None:
        """Looks until the provider must know of the batch if it has it."""
        while True:
            found = await self.endpoint.find(sheet.marker, sheet.entries.keys(), sheet.since, self.known)
            if found or time.time() > sheet.since + self.grace_s:
                return found
            await asyncio.sleep(1.0)

    def lines(self, sheet: Sheet) -> list[Line]:
        return [self.endpoint.line(entry.custom_id, entry.request) for entry in sheet.entries.values()]

    async def patiently(self, action: Callable[[], Awaitable[T]]) -> T:
        """Asks again as a live call would be; what stays without an answer is the user's to mend."""
        caller = self.caller
        policy = AsyncRetrying(stop=stop_after_attempt(caller.tries), wait=caller.wait, retry=retry_if_exception(again), reraise=True)
        try:
            return await policy(action)
        except CallError as error:
            raise UserError(f"No batch of {self.model.name} ({error.outcome}). {error} Then continue with resume={self.run}.") from error

    # What comes back.

    async def collect(self, parse: Parse) -> None:
        """Enters what the provider has ready. `parse` says how a reply reads, for the record."""
        for sheet in list(self.sheets.values()):
            if sheet.ident is None:
                await self.deliver(sheet)
            ident = sheet.ident
            if ident is not None:
                await self.enter(sheet, await self.patiently(partial(self.endpoint.fetch, ident)), parse)

    async def enter(self, sheet: Sheet, fetched: Fetched, parse: Parse) -> None:
        """One line per entry that is over, those with a reply first."""
        results: dict[str, Reply | CallError] = {name: result for name, result in fetched.results.items() if name in sheet.entries}
        if fetched.missing is not None:
            results = {name: results.get(name, fetched.missing) for name in sheet.entries}
        self.strays |= fetched.results.keys() - self.ids
        order = sorted(results.items(), key=lambda item: isinstance(item[1], CallError))
        booked = [self.caller.finish(self.book(sheet.entries.pop(name), result, sheet.since, parse)) for name, result in order]
        await asyncio.shield(asyncio.gather(*booked))
        self.news = self.news or bool(results)
        if not sheet.entries:
            del self.sheets[sheet.marker]
            self.write("ended", sheet.marker)

    async def book(self, entry: Entry, result: Reply | CallError, since: float, parse: Parse) -> None:
        assert entry.hold is not None
        reply, error = (result, None) if isinstance(result, Reply) else (None, result)
        question = Question(entry.request, entry.question.prompt_sha, lambda reply: parse(entry.request.identity, reply))
        last = entry.try_ >= self.caller.tries
        await self.caller.book(question, entry.hold, since, reply, error, last)
        if error and error.outcome in OUTAGES and (last or not again(error)):
            self.failed[entry.key] = CallFailed(error.outcome, str(error))

    # The journal.

    def entries(self) -> Iterator[Entry]:
        for sheet in self.sheets.values():
            yield from sheet.entries.values()

    def write(self, event: str, marker: str, **fields: Any) -> None:
        self.journal.append({"event": event, "batch": marker, "time": time.time(), **fields})

    def restore(self, records: list[dict[str, Any]]) -> None:
        """Takes up what earlier starts left with the provider; its bounds are held, whether they fit or not."""
        over = {line["batch"] for line in records if line["event"] == "ended"}
        for line in records:
            marker = line["batch"]
            if line["event"] == "intended" and marker not in over:
                entries = [self.remembered(body) for body in line["entries"]]
                self.sheets[marker] = Sheet(marker, {e.custom_id: e for e in entries if e}, line["time"], doubtful=True)
            elif line["event"] == "submitted" and marker not in over:
                self.sheets[marker].ident = line["ident"]
        for entry in self.entries():
            entry.hold = self.caller.ledger.commit(self.model, entry.request, TIER)

    def remembered(self, body: dict[str, Any]) -> Entry | None:
        """An entry of the journal, unless its try is in the books already."""
        identity = Identity(**body["identity"])
        if self.caller.recorder.recorded_tries(identity) >= body["try"]:
            return None
        prompt = self.caller.recorder.prompt(body["prompt_sha"])
        sampling = Sampling(**body["sampling"])
        request = Request(tuple(prompt["messages"]), identity, Brief("", identity.role), sampling, tuple(prompt["tools"]), body["stable"])
        return Entry(Question(request, body["prompt_sha"], lambda reply: None), custom_id=body["custom_id"], try_=body["try"])


def described(entry: Entry) -> dict[str, Any]:
    request = entry.request
    return {
        "custom_id": entry.custom_id,
        "identity": asdict(request.identity),
        "try": entry.try_,
        "request_sha": request.sha,
        "prompt_sha": entry.question.prompt_sha,
        "sampling": asdict(request.sampling),
        "stable": request.stable,
    }
