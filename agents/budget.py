"""What may be spent: limits of a run, of each of its trajectories and of each of their calls, and an account for each of them."""

import asyncio
from dataclasses import dataclass, field, fields


class BudgetExhausted(Exception):
    """What is asked for does not fit into what is left. `kind` is the key under `budget.` that says no."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class CallLimits:
    """Of one call with all its tries; None is unlimited."""

    tokens: int | None = None
    """Input and output tokens, cached ones included."""
    usd: float | None = None
    wall_s: float | None = None
    """Seconds under way; seconds between an interruption and its resumption do not count. Beyond them nothing is begun."""


@dataclass(frozen=True)
class TrajectoryLimits(CallLimits):
    """Of one trajectory, all its calls and evaluations together."""

    evaluations: int | None = None
    gpu_s: float | None = None


@dataclass(frozen=True)
class Limits(TrajectoryLimits):
    """Of a run, or of several that share them, and of each trajectory and each call in it."""

    trajectory: TrajectoryLimits = field(default_factory=TrajectoryLimits)
    call: CallLimits = field(default_factory=CallLimits)


@dataclass
class Amount:
    tokens: int = 0
    usd: float = 0.0
    evaluations: int = 0
    gpu_s: float = 0.0

    def add(self, other: "Amount") -> None:
        for kind in KINDS:
            setattr(self, kind, getattr(self, kind) + getattr(other, kind))


KINDS = tuple(kind.name for kind in fields(Amount))


@dataclass(eq=False)
class Hold:
    """A reservation in the accounts of its run, trajectory and call; settled or released once."""

    amount: Amount
    accounts: tuple["Account", ...]


@dataclass(eq=False)
class Account:
    """What is spent and held at one level: `run`, `trajectory` or `call`."""

    level: str
    limits: CallLimits
    spent: Amount = field(default_factory=Amount)
    holds: list[Hold] = field(default_factory=list)
    begun: float | None = None
    """When its first step of this start was asked for, by the ledger's clock."""
    earlier_s: float = 0.0
    """Seconds of earlier starts."""
    waiting: list["asyncio.Future[None]"] = field(default_factory=list)

    @property
    def reserved(self) -> Amount:
        # Summed anew each time: a running sum of floats would keep a residue, and a caller could wait for it for ever.
        total = Amount()
        for hold in self.holds:
            total.add(hold.amount)
        return total

    def wall_s(self, now: float) -> float:
        return self.earlier_s + (now - self.begun if self.begun is not None else 0.0)

    def check(self, amount: Amount, now: float) -> None:
        """Raises BudgetExhausted where `amount` would not fit even if nothing were held, or the time is over."""
        if self.limits.wall_s is not None and self.wall_s(now) > self.limits.wall_s:
            raise BudgetExhausted(self.key("wall_s"), f"The {self.level}'s {self.limits.wall_s:g} s are over.")
        for kind in KINDS:
            if not self.fits(kind, amount, Amount()):
                spent, limit = getattr(self.spent, kind), getattr(self.limits, kind)
                raise BudgetExhausted(
                    self.key(kind),
                    f"The {self.level}'s budget of {limit:,g} {kind} is used up: {spent:,g} spent, "
                    f"and the next step may take {getattr(amount, kind):,g}.",
                )

    def room(self, amount: Amount) -> bool:
        """Whether it fits beside what is held."""
        reserved = self.reserved
        return all(self.fits(kind, amount, reserved) for kind in KINDS)

    def fits(self, kind: str, amount: Amount, reserved: Amount) -> bool:
        asked = getattr(amount, kind)
        limit = getattr(self.limits, kind) if asked else None
        return limit is None or getattr(self.spent, kind) + getattr(reserved, kind) + asked <= limit

    def key(self, kind: str) -> str:
        return kind if self.level == "run" else f"{self.level}.{kind}"

    def release(self, hold: Hold) -> None:
        self.holds.remove(hold)
        waiting, self.waiting = self.waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def change(self) -> None:
        """Waits until something is released."""
        future = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        await future
