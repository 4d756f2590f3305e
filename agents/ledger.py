"""Budgets and books: an upper bound is reserved before each call and evaluation, so that concurrent ones cannot overspend together."""

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields

from agents.models.base import Identity, Model, Request, Usage
from agents.prices import Prices
from agents.recorder import CallRecord
from benchmark.errors import UserError

MESSAGE_TOKENS = 16
REQUEST_TOKENS = 64
TOOL_TOKENS = 1024


class BudgetExhausted(Exception):
    """What is asked for does not fit into what is left. `kind` is the field of `Limits`."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Limits:
    """A run's budget; None is unlimited."""

    tokens: int | None = None
    """Input and output tokens of all calls, cached ones included."""
    usd: float | None = None
    evaluations: int | None = None
    gpu_s: float | None = None
    wall_s: float | None = None
    """Seconds since the first start; seconds between an interruption and its resumption do not count."""


@dataclass
class Amount:
    tokens: int = 0
    usd: float = 0.0
    evaluations: int = 0
    gpu_s: float = 0.0

    def add(self, other: "Amount") -> None:
        for kind in fields(Amount):
            setattr(self, kind.name, getattr(self, kind.name) + getattr(other, kind.name))


@dataclass(eq=False)
class Hold:
    """A reservation; settled or released once."""

    amount: Amount


@dataclass
class Total:
    """What some calls cost. `usd` is what is known; `tokens_upper` and `usd_upper` also count the bounds of what is unknown."""

    calls: int = 0
    tries: int = 0
    usage: Usage = field(default_factory=Usage)
    usd: float = 0.0
    tokens_upper: int = 0
    usd_upper: float | None = 0.0
    """None where a bound is missing (an unpriced model)."""
    unknown: int = 0
    """Tries whose usage or price is unknown."""

    @property
    def tokens(self) -> int:
        return self.usage.total

    def add(self, other: "Total") -> None:
        self.calls += other.calls
        self.tries += other.tries
        self.usage = self.usage + other.usage
        self.usd += other.usd
        self.tokens_upper += other.tokens_upper
        self.usd_upper = None if self.usd_upper is None or other.usd_upper is None else self.usd_upper + other.usd_upper
        self.unknown += other.unknown


def prompt_bound(request: Request) -> int:
    """An upper bound of the prompt's tokens: byte-level tokenisers emit at most one token per UTF-8 byte, and chat templates add a few.

    With tools, providers prepend instructions of their own of some hundred tokens, for which a flat `TOOL_TOKENS` stands.
    """
    texts = [str(part) for m in request.messages for part in m.values()] + [str(tool) for tool in request.tools]
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return size + MESSAGE_TOKENS * (len(request.messages) + len(request.tools)) + REQUEST_TOKENS + TOOL_TOKENS * bool(request.tools)


class Ledger:
    """The books of a run: what is spent, what is reserved, and what each call cost."""

    def __init__(self, limits: Limits | None = None, prices: Prices | None = None, clock: Callable[[], float] = time.monotonic):
        self.limits = limits or Limits()
        self.prices = prices or Prices.load()
        self.spent = Amount()
        self.holds: list[Hold] = []
        self.books: dict[Identity, Total] = {}
        self.clock = clock
        self.started = clock()
        self.waiting: list[asyncio.Future[None]] = []

    def admit(self, model: Model) -> None:
        """Refuses a USD budget that could not be kept, before anything is asked."""
        if self.limits.usd is not None and self.prices.row(model.name, model.free) is None:
            raise UserError(
                f"budget.usd needs a price, and there is none for {model.name!r}: "
                f"add prices.{model.name!r} with input and output in USD per million tokens, or use budget.tokens."
            )

    async def reserve_call(self, model: Model, request: Request, tier: str = "standard") -> Hold:
        """Holds the upper bound of one try; waits where it fits only once calls in flight are settled."""
        return await self._reserve(self._bound(model, request, tier))

    def commit(self, model: Model, request: Request, tier: str = "standard") -> Hold:
        """Holds the upper bound of a try that is under way already, whether it fits or not."""
        hold = Hold(self._bound(model, request, tier))
        self.holds.append(hold)
        return hold

    def _bound(self, model: Model, request: Request, tier: str) -> Amount:
        prompt, output = prompt_bound(request), request.sampling.max_tokens
        row = self.prices.row(model.name, model.free)
        return Amount(tokens=prompt + output, usd=(row.upper(prompt, output, tier) if row else None) or 0.0)

    async def reserve_evaluation(self, gpu_s: float = 0.0) -> Hold:
        """Holds one evaluation of at most `gpu_s` seconds on a GPU."""
        return await self._reserve(Amount(evaluations=1, gpu_s=gpu_s))

    def settle_call(self, hold: Hold, record: CallRecord) -> None:
        """Replaces the bound by what the try cost, or by its bound where that is unknown."""
        self.release(hold)
        self._book(record)

    def settle_evaluation(self, hold: Hold, gpu_s: float) -> None:
        self.spent.add(Amount(evaluations=1, gpu_s=gpu_s))
        self.release(hold)

    def release(self, hold: Hold) -> None:
        """Gives a reservation back."""
        self.holds.remove(hold)
        waiting, self.waiting = self.waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    def restore(self, calls: Iterable[CallRecord], evaluations: Iterable[float] = (), wall_s: float = 0.0) -> None:
        """Enters what earlier starts of the run spent: every try on record, GPU seconds by evaluation, seconds run."""
        for record in calls:
            self._book(record)
        for gpu_s in evaluations:
            self.spent.add(Amount(evaluations=1, gpu_s=gpu_s))
        self.started -= wall_s

    @property
    def reserved(self) -> Amount:
        # Summed anew each time: a running sum of floats would keep a residue, and a caller could wait for it for ever.
        total = Amount()
        for hold in self.holds:
            total.add(hold.amount)
        return total

    @property
    def wall_s(self) -> float:
        return self.clock() - self.started

    def total(self, trajectory: str | None = None, role: str | None = None) -> Total:
        """Sum over the calls of a trajectory, of a role, of both, or of the run."""
        total = Total()
        for identity, entry in self.books.items():
            if trajectory in (None, identity.trajectory) and role in (None, identity.role):
                total.add(entry)
        return total

    def by_role(self) -> dict[str, Total]:
        totals: dict[str, Total] = {}
        for identity, entry in self.books.items():
            totals.setdefault(identity.role, Total()).add(entry)
        return totals

    def call(self, identity: Identity) -> Total:
        """What one call cost, all its tries together."""
        return self.books.get(identity, Total())

    async def _reserve(self, amount: Amount) -> Hold:
        while True:
            if self.limits.wall_s is not None and self.wall_s > self.limits.wall_s:
                raise BudgetExhausted("wall_s", f"The run's {self.limits.wall_s:g} s are over.")
            reserved = self.reserved
            blocked = [kind.name for kind in fields(Amount) if not self._fits(kind.name, amount, reserved)]
            if not blocked:
                hold = Hold(amount)
                self.holds.append(hold)
                return hold
            for kind in blocked:
                if not self._fits(kind, amount, Amount()):
                    raise BudgetExhausted(kind, self._sentence(kind, amount))
            future = asyncio.get_running_loop().create_future()
            self.waiting.append(future)
            await future

    def _fits(self, kind: str, amount: Amount, reserved: Amount) -> bool:
        limit = getattr(self.limits, kind)
        asked = getattr(amount, kind)
        return limit is None or not asked or getattr(self.spent, kind) + getattr(reserved, kind) + asked <= limit

    def _sentence(self, kind: str, amount: Amount) -> str:
        spent, limit = getattr(self.spent, kind), getattr(self.limits, kind)
        return f"The budget of {limit:g} {kind} is used up: {spent:g} spent, and the next step may take {getattr(amount, kind):g}."

    def _book(self, record: CallRecord) -> None:
        usage = record.usage or Usage()
        known = record.usage is not None and record.cost_usd is not None
        entry = Total(
            tries=1,
            usage=usage,
            usd=record.cost_usd or 0.0,
            tokens_upper=usage.total if record.tokens_upper is None else record.tokens_upper,
            usd_upper=record.cost_upper if record.cost_usd is None else record.cost_usd,
            unknown=int(not known),
        )
        book = self.books.setdefault(record.identity, Total(calls=1))
        book.add(entry)
        self.spent.add(Amount(tokens=entry.tokens_upper, usd=entry.usd_upper or 0.0))
