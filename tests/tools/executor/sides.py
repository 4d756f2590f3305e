"""Sides of a timing that take the time that the test says, by a clock of their own: nothing waits, nothing is left to chance."""

import random
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Clock:
    """The time on the wall, in seconds."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Side:
    """Answers like the judge or a sandbox: `us` is the device time it reports, `real_us` what a call takes on the wall."""

    clock: Clock
    us: float
    real_us: float | None = None
    warm_us: float | None = None
    fresh_us: float | None = None
    """Of a call on its own, as calls on new values are made."""
    jitter_us: float = 5.0
    """Of a request."""
    flush_us: float = 100.0
    result_bytes: int = 1000
    sleeps_us: float = 0.0
    """What it waits in addition in short blocks."""
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    asked: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(request)
        if request["op"] != "time":
            return {}
        calls = len(request["order"])
        us = (self.warm_us or self.us) if request["warm"] else self.us
        us = self.fresh_us if self.fresh_us and calls == 1 and len(self.asked) > 10 else us
        real = us if self.real_us is None else self.real_us
        flush = 0.0 if request["warm"] else self.flush_us
        wall = 60.0 + request["stall"] * self.flush_us + calls * (real + flush) + abs(self.rng.gauss(0, self.jitter_us))
        self.clock.now += (wall + (self.sleeps_us if calls == 40 else 0.0)) * 1e-6
        times = [us * self.rng.uniform(0.99, 1.01) for _ in range(calls)]
        return {"us": times, "host_us": 20.0, "loop_us": 40.0, "result_bytes": self.result_bytes, "tuning_s": 1.5}
