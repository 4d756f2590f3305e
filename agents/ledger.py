"""Budgets and books: an upper bound is reserved before each call and evaluation, so that concurrent ones cannot overspend together."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from agents.budget import Account, Amount, Hold, Limits
from agents.models.base import Identity, Model, Request, Usage
from agents.models.batches.base import TIER
from agents.prices import Prices
from agents.recorder import CallRecord
from benchmark.errors import UserError

MESSAGE_TOKENS = 16
REQUEST_TOKENS = 64
TOOL_TOKENS = 1024


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
    """The books of a run: what is spent and reserved at each level of its budget, and what each call cost."""

    def __init__(self, limits: Limits | None = None, prices: Prices | None = None, clock: Callable[[], float] = time.monotonic):
        self.limits = limits or Limits()
        self.prices = prices or Prices.load()
        self.clock = clock
        self.run = Account("run", self.limits, begun=clock())
        self.trajectories: dict[str, Account] = defaultdict(lambda: Account("trajectory", self.limits.trajectory))
        self.calls: dict[Identity, Account] = defaultdict(lambda: Account("call", self.limits.call))
        self.books: dict[Identity, Total] = {}

    def share(self) -> "Ledger":
        """The ledger of one of several runs under one budget. Identities are unique within a run only: its books are its own."""
        shared = Ledger(self.limits, self.prices, self.clock)
        shared.run = self.run
        return shared

    def admit(self, model: Model) -> None:
        """Refuses a USD budget that could not be kept, before anything is asked."""
        row = self.prices.row(model.name, model.free)
        levels = {"budget": self.limits, "budget.trajectory": self.limits.trajectory, "budget.call": self.limits.call}
        for level, limits in levels.items():
            if limits.usd is not None and (row is None or row.upper(1, 1) is None):
                raise UserError(
                    f"{level}.usd needs a price, and there is none for {model.name!r}: add "
                    f"'prices={{{model.name}:{{input:...,output:...}}}}' in USD per million tokens, or use {level}.tokens."
                )

    async def reserve_call(self, model: Model, request: Request, tier: str = "standard") -> Hold:
        """Holds the upper bound of one try; waits where it fits only once calls in flight are settled."""
        return await self._reserve(self._bound(model, request, tier), self._accounts(request.identity))

    def commit(self, model: Model, request: Request, tier: str = "standard") -> Hold:
        """Holds the upper bound of a try that is under way already, whether it fits or not."""
        return self._hold(self._bound(model, request, tier), self._accounts(request.identity))

    async def reserve_evaluation(self, trajectory: str, gpu_s: float = 0.0) -> Hold:
        """Holds one evaluation of at most `gpu_s` seconds on a GPU."""
        return await self._reserve(Amount(evaluations=1, gpu_s=gpu_s), (self.run, self.trajectories[trajectory]))

    def settle_call(self, hold: Hold, record: CallRecord) -> None:
        """Replaces the bound by what the try cost, or by its bound where that is unknown."""
        self.release(hold)
        self._book(record)

    def settle_evaluation(self, hold: Hold, gpu_s: float) -> None:
        self._spend(Amount(evaluations=1, gpu_s=gpu_s), hold.accounts)
        self.release(hold)

    def release(self, hold: Hold) -> None:
        """Gives a reservation back."""
        for account in hold.accounts:
            account.release(hold)

    def restore(
        self,
        calls: Iterable[CallRecord],
        evaluations: Iterable[tuple[str, float]] = (),
        wall_s: float = 0.0,
        walls: Iterable[tuple[str, float]] = (),
    ) -> None:
        """Enters what earlier starts of the run spent: every try on record, (trajectory, GPU seconds) of evaluations, seconds that the run
        was under way, (trajectory, seconds) of each trajectory."""
        for record in calls:
            self._book(record)
            self.calls[record.identity].earlier_s += record.end - record.start if record.tier != TIER else 0.0
        for trajectory, gpu_s in evaluations:
            self._spend(Amount(evaluations=1, gpu_s=gpu_s), (self.run, self.trajectories[trajectory]))
        self.run.earlier_s += wall_s
        for trajectory, seconds in walls:
            self.trajectories[trajectory].earlier_s += seconds

    @property
    def spent(self) -> Amount:
        return self.run.spent

    @property
    def reserved(self) -> Amount:
        return self.run.reserved

    @property
    def holds(self) -> list[Hold]:
        return self.run.holds

    @property
    def wall_s(self) -> float:
        return self.run.wall_s(self.clock())

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

    def _accounts(self, identity: Identity) -> tuple[Account, ...]:
        return self.run, self.trajectories[identity.trajectory], self.calls[identity]

    def _bound(self, model: Model, request: Request, tier: str) -> Amount:
        prompt, output = prompt_bound(request), request.sampling.max_tokens
        row = self.prices.row(model.name, model.free)
        return Amount(tokens=prompt + output, usd=(row.upper(prompt, output, tier) if row else None) or 0.0)

    async def _reserve(self, amount: Amount, accounts: tuple[Account, ...]) -> Hold:
        """Holds it at every level at once or at none, so that nobody waits with a part of what another one waits for."""
        for account in accounts:
            account.begun = self.clock() if account.begun is None else account.begun
        while True:
            for account in accounts:
                account.check(amount, self.clock())
            full = next((account for account in accounts if not account.room(amount)), None)
            if full is None:
                return self._hold(amount, accounts)
            await full.change()

    def _hold(self, amount: Amount, accounts: tuple[Account, ...]) -> Hold:
        hold = Hold(amount, accounts)
        for account in accounts:
            account.holds.append(hold)
        return hold

    def _spend(self, amount: Amount, accounts: tuple[Account, ...]) -> None:
        for account in accounts:
            account.spent.add(amount)

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
        usd = self._standard(record) if entry.usd_upper is None else entry.usd_upper
        self._spend(Amount(tokens=entry.tokens_upper, usd=usd), self._accounts(record.identity))

    def _standard(self, record: CallRecord) -> float:
        """USD at standard prices: what counts of a try in a tier (`priority`, `flex`) whose price nobody knows."""
        row = self.prices.row(record.model_asked)
        return (row.cost(record.usage or Usage()) if row else None) or 0.0
