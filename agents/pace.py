"""How fast a provider is asked: calls in flight, requests and tokens of the last minute, and the pauses that it asks for."""

import asyncio
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

MINUTE = 60.0
OPTIONS = ("concurrency", "requests_per_minute", "tokens_per_minute")


@dataclass(eq=False)
class Ticket:
    """One try: when it started, and the tokens that it may take, or took."""

    start: float
    tokens: int


class Pace:
    """Shared by all calls of a run to one provider; first come, first served. Belongs to one event loop."""

    def __init__(self, concurrency: int = 32, requests_per_minute: int | None = None, tokens_per_minute: int | None = None):
        self.requests = requests_per_minute
        self.tokens = tokens_per_minute
        self.slots = asyncio.Semaphore(concurrency)
        self.turn = asyncio.Lock()
        self.changed = asyncio.Event()
        self.last_minute: deque[Ticket] = deque()
        self.paused_until = 0.0

    @classmethod
    def of(cls, model: Any) -> "Pace":
        """As the model's `model_args` say. One that has no such options answers in this process, and is bounded by the default alone."""
        args = getattr(model, "args", None)
        return cls(**{name: getattr(args, name) for name in OPTIONS if hasattr(args, name)})

    async def enter(self, tokens: int) -> Ticket:
        """Waits until one more try of at most so many tokens may start. One that exceeds a whole minute's tokens starts alone."""
        await self.slots.acquire()
        try:
            async with self.turn:
                while (wait := self._wait(tokens, time.monotonic())) > 0:
                    self.changed.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self.changed.wait(), wait)
                ticket = Ticket(time.monotonic(), tokens)
                self.last_minute.append(ticket)
        except BaseException:
            self.slots.release()
            raise
        return ticket

    def leave(self, ticket: Ticket, tokens: int) -> None:
        """The try has ended, and took so many tokens."""
        ticket.tokens = tokens
        self.slots.release()
        self.changed.set()

    def pause(self, seconds: float) -> None:
        """Nobody starts before so many seconds have passed: the provider asked for it."""
        self.paused_until = max(self.paused_until, time.monotonic() + seconds)

    def _wait(self, tokens: int, now: float) -> float:
        """Seconds until a try may start, as far as is known now; 0 or less: at once."""
        while self.last_minute and self.last_minute[0].start <= now - MINUTE:
            self.last_minute.popleft()
        wait = self.paused_until - now
        if not self.last_minute:
            return wait
        full = self.requests is not None and len(self.last_minute) >= self.requests
        full = full or (self.tokens is not None and sum(ticket.tokens for ticket in self.last_minute) + tokens > self.tokens)
        return max(wait, self.last_minute[0].start + MINUTE - now) if full else wait
