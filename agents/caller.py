"""One logical call: journal, budget, tries and books. Retries happen here and nowhere else."""

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from agents.budget import Hold
from agents.journal import stored_reply
from agents.ledger import Ledger, prompt_bound
from agents.models.base import RETRIABLE, CallError, Identity, Model, Reply, Request, Usage
from agents.pace import Pace, Ticket
from agents.recorder import CallRecord, Recorder
from benchmark.errors import UserError

T = TypeVar("T")
REPLY_OUTCOMES = {"declined": "declined", "refusal": "refused", "content_filter": "refused"}
"""Finish reasons of replies that are answers all the same; every other one is `ok`."""
KNOWN = frozenset({"provider", "counted", "replayed"})
"""Usage sources that a cost can be computed from."""
PATIENCE_S = 600.0
"""The longest that a provider may ask to wait for; beyond it a run is better continued later."""


class Parked(Exception):
    """The reply comes with a batch: this start of the run ends without it."""


class Lot(Protocol):
    """Where calls wait whose replies come in batches; `agents.parking` has the one that there is."""

    async def park(self, question: "Question") -> Reply:
        """Raises `Parked`, `BudgetExhausted`, or `CallFailed` where this start learnt that the request cannot be asked."""
        ...

    def asked(self, identity: Identity) -> str | None:
        """The digest of the request that is under way under this identity since an earlier start."""
        ...


class CallFailed(Exception):
    """A call that gave no reply after all its tries. `outcome` is the last try's."""

    def __init__(self, outcome: str, message: str):
        super().__init__(message)
        self.outcome = outcome


class Diverged(UserError):
    """The journal holds another request under this identity: the code, prompts or config changed since the run was started."""

    def __init__(self, identity: Identity):
        super().__init__(
            f"The resumed run diverged at {identity.role}/{identity.round} ({identity.key}): its request is not the recorded one. "
            "Resume with the code, prompts and options that the run was started with, start a new run, "
            "or go on from here with resume.on_divergence=fork."
        )
        self.identity = identity


def again(error: BaseException) -> bool:
    """Whether a failed try is worth another one."""
    if not isinstance(error, CallError) or error.last:
        return False
    return error.outcome in RETRIABLE and (error.retry_after or 0.0) <= PATIENCE_S


Parse = Callable[[Reply], str | None]
"""How a reply reads, for the record: `ok`, or what is wrong with it."""


@dataclass(frozen=True)
class Question:
    """What all tries of a call have in common."""

    request: Request
    prompt_sha: str
    parse: Parse


class Caller:
    """Asks a model on behalf of roles. Safe to share between all trajectories of a run; belongs to one event loop."""

    def __init__(self, model: Model, recorder: Recorder, ledger: Ledger, *, tries: int = 6, pace: Pace | None = None,
                 first_wait_s: float = 1.0, longest_wait_s: float = 60.0, fork: bool = False):  # fmt: skip
        """`fork`: a request that is not the recorded one is asked under a new identity, instead of raising `Diverged`."""
        self.model = model
        self.recorder = recorder
        self.ledger = ledger
        self.tries = tries
        self.first_wait_s = first_wait_s
        self.longest_wait_s = longest_wait_s
        self.fork = fork
        self.pace = pace or Pace.of(model)
        self.running: set[asyncio.Task[Any]] = set()
        self.lot: Lot | None = None

    async def complete(self, request: Request, parse: Parse = lambda reply: None) -> Reply:
        """The recorded reply where there is one, else the model's. Raises `CallFailed`, `BudgetExhausted`, `Diverged` or `Parked`."""
        request = self.place(request)
        recorded = self.recorder.recorded_call(request.identity)
        if recorded is not None:
            return self._replay(recorded)
        asked = request.identity
        self.recorder.event("ask", trajectory=asked.trajectory, role=asked.role, round=asked.round)
        question = Question(request, self.recorder.put_prompt(list(request.messages), list(request.tools)), parse)
        if self.lot is not None:
            await self.recorder.saved()  # The journal of batches names it before any line of ours.
            return await self.lot.park(question)
        policy = AsyncRetrying(stop=stop_after_attempt(self.tries), wait=self.wait, retry=retry_if_exception(again), reraise=True)
        try:
            async for trial in policy:
                with trial:
                    return await self._try(question, last=trial.retry_state.attempt_number == self.tries)
        except CallError as error:
            raise CallFailed(error.outcome, str(error)) from error
        raise AssertionError("the last trial returns or raises")

    def place(self, request: Request) -> Request:
        """The request as it is asked: sampled as the user said, and under the first fork of its identity that holds it or nothing.

        Raises `Diverged` instead of opening a fork, unless `fork`.
        """
        request = replace(request, sampling=replace(request.sampling, **self.model.sampling))
        first = identity = request.identity
        while (held := self._held(identity)) is not None and held != request.sha:
            identity = identity.next
        if held is None and identity != first:
            self.diverge(first, identity)
        return replace(request, identity=identity)

    def diverge(self, recorded: Identity, identity: Identity) -> None:
        """Opens the fork `identity` where another request is on record under `recorded`."""
        if not self.fork:
            raise Diverged(recorded)
        self.recorder.event("fork", **asdict(identity))

    def _held(self, identity: Identity) -> str | None:
        """The digest of the request under this identity that is on record, or under way."""
        recorded = self.recorder.recorded_call(identity)
        if recorded is not None:
            return recorded.request_sha
        return self.lot.asked(identity) if self.lot is not None else None

    async def close(self) -> None:
        """Waits for tries in flight, so that what is paid is on record, and closes the model. Cancelled, it cancels them, on record too."""
        try:
            if self.running:
                await asyncio.wait(self.running)
        except asyncio.CancelledError:
            for task in self.running:
                task.cancel()
            await asyncio.gather(*self.running, return_exceptions=True)
            raise
        finally:
            await self.model.close()

    def _replay(self, record: CallRecord) -> Reply:
        if record.reply_sha is None:
            raise CallFailed(record.outcome, record.error or record.outcome)
        return stored_reply(self.recorder.reply(record.reply_sha))

    def wait(self, state: RetryCallState) -> float:
        """Retry-After where the provider names it, else exponential with jitter, up to `longest_wait_s`."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, CallError) and error.retry_after is not None:
            return error.retry_after
        ceiling = min(self.first_wait_s * 2 ** (state.attempt_number - 1), self.longest_wait_s)
        return ceiling * random.uniform(0.5, 1.0)

    async def _try(self, question: Question, last: bool) -> Reply:
        """One try, which runs to its end and onto the record even if whoever asked is cancelled meanwhile."""
        ticket = await self.pace.enter(prompt_bound(question.request) + question.request.sampling.max_tokens)
        try:
            hold = await self.ledger.reserve_call(self.model, question.request)
        except BaseException:
            self.pace.leave(ticket, 0)
            raise
        task = self.finish(self._booked(question, hold, last))
        task.add_done_callback(lambda done: self._done(done, ticket))
        return await asyncio.shield(task)

    def finish(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        """Begins what brings paid things onto the record: `close` waits for it."""
        task = asyncio.create_task(work)
        self.running.add(task)
        task.add_done_callback(self.running.discard)
        return task

    def _done(self, task: "asyncio.Task[Reply]", ticket: Ticket) -> None:
        error = None if task.cancelled() else task.exception()  # Fetched, since nobody else may be left to do so.
        if isinstance(error, CallError) and error.retry_after is not None and again(error):
            self.pace.pause(error.retry_after)
        usage = None if task.cancelled() else getattr(error, "usage", None) if error else task.result().usage
        self.pace.leave(ticket, ticket.tokens if usage is None else usage.total)

    async def _booked(self, question: Question, hold: Hold, last: bool) -> Reply:
        """Asks the model once and writes the try down before its reply is used."""
        reply: Reply | None = None
        error: CallError | None = None
        start = time.time()
        try:
            reply = await self.model.complete(question.request)
            return reply
        except CallError as caught:
            error = caught
            raise
        except asyncio.CancelledError:
            error = CallError("cancelled", "Cancelled while in flight.")
            raise
        finally:
            await self.book(question, hold, start, reply, error, last)

    async def book(self, question: Question, hold: Hold, start: float, reply: Reply | None, error: CallError | None, last: bool) -> None:
        """Writes a try down and settles its hold. `last`: no further try follows, whatever the error.

        An exception that is neither a reply nor a `CallError` is our own fault, and on its way up with its traceback.
        """
        if reply is None and error is None:
            self.ledger.release(hold)
            return
        try:
            record = self._record(question, start, reply, error)
            record.final = error is None or (error.outcome != "cancelled" and (last or not again(error)))
        except BaseException:
            self.ledger.release(hold)
            raise
        try:
            await self.recorder.write_call(record)
        finally:
            self.ledger.settle_call(hold, record)

    def _record(self, question: Question, start: float, reply: Reply | None, error: CallError | None) -> CallRecord:
        request = question.request
        result: Any = reply or error
        return CallRecord(
            call_id=request.identity.key,
            try_=self.recorder.recorded_tries(request.identity) + 1,
            identity=request.identity,
            provider=self.model.name.partition("/")[0],
            model_asked=self.model.name,
            model_served=reply.model if reply else None,
            request_sha=request.sha,
            prompt_sha=question.prompt_sha,
            reply_sha=self.recorder.put_reply(asdict(reply)) if reply else None,
            sampling=asdict(request.sampling),
            start=start,
            first_token=result.first_token,
            end=time.time(),
            outcome=REPLY_OUTCOMES.get(reply.finish_reason, "ok") if reply else result.outcome,
            finish_reason=reply.finish_reason if reply else None,
            request_id=result.request_id,
            error=None if reply else str(error),
            usage_raw=result.usage_raw,
            usage=result.usage,
            usage_source=result.usage_source,
            tier=result.tier,
            parse=question.parse(reply) if reply else None,
            replayed=result.replayed,
            **self._money(request, result.usage, result.usage_source, result.tier),
        )

    def _money(self, request: Request, usage: Usage | None, source: str, tier: str) -> dict[str, Any]:
        """Cost where usage and price are known, else bounds; what was used in part is the least that the bound can be."""
        row = self.ledger.prices.row(self.model.name, self.model.free)
        prompt, output = prompt_bound(request), request.sampling.max_tokens
        known = usage is not None and source in KNOWN
        cost = 0.0 if self.model.free else row.cost(usage or Usage(), tier) if row and known else None
        bounds = [row.upper(prompt, output, tier), row.cost(usage or Usage(), tier)] if row else []
        upper = cost if cost is not None else max((bound for bound in bounds if bound is not None), default=None)
        tokens_upper = None if known else max(prompt + output, usage.total if usage else 0)
        return {"price_row": row.name if row else None, "cost_usd": cost, "cost_upper": upper, "tokens_upper": tokens_upper}
