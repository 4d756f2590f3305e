"""Sides of a timing that take the time that the test says, by a clock of their own: nothing waits, nothing is left to chance."""

import contextlib
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from tools.evaluation import Evaluation
from tools.executor.stages.verdicts import Stop
from tools.settings import Settings


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
    """What it reports of calls on values that come with the request."""
    sealed_us: float | None = None
    """What such a call takes on the wall, where that is something else."""
    request_us: float = 60.0
    jitter_us: float = 5.0
    """Of a request's time."""
    flush_us: float = 100.0
    result_bytes: int = 1000
    slow_first_us: float = 0.0
    """What it reports, and takes, before it is told to forget anything: while it warms up."""
    sleeps_us: float = 0.0
    """What it waits in addition in short blocks."""
    loop_us: float = 40.0
    """What a call takes on the host, which enqueues while the device works."""
    later_loop_us: float | None = None
    """The same when it has warmed up."""
    spread: float = 0.01
    """By how much blocks differ."""
    rng: random.Random = field(default_factory=lambda: random.Random(1))
    asked: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(request)
        if request["op"] not in ("time", "sealed"):
            self.clock.now += self.request_us * 1e-6
            return {}
        warm, sealed = request.get("warm", False), request["op"] == "sealed"
        calls = len(request["sets"] if sealed else request["order"])
        us = (warm and self.warm_us) or (sealed and self.fresh_us) or self.us
        real = us if self.real_us is None else self.real_us
        real = self.sealed_us if sealed and self.sealed_us else real
        warming = not any(earlier["op"] == "clear" for earlier in self.asked)
        loop = self.loop_us if warming or self.later_loop_us is None else self.later_loop_us
        if self.slow_first_us and warming:
            us = real = self.slow_first_us
        flush = 0.0 if warm else self.flush_us
        device = request["stall"] * self.flush_us + calls * (real + flush)
        wall = self.request_us + max(device, calls * loop) + abs(self.rng.gauss(0, self.jitter_us))
        self.clock.now += (wall + (self.sleeps_us if calls == 40 else 0.0)) * 1e-6
        us *= self.rng.uniform(1 - self.spread, 1 + self.spread)
        times = [us * self.rng.uniform(0.99, 1.01) for _ in range(calls)]
        answer = {"us": times, "host_us": 20.0, "loop_us": loop, "result_bytes": self.result_bytes, "tuning_s": 1.5}
        return answer | {"given": [{"result": number} for number in range(calls)]}


ABOUT = {"trivial": False, "nothing": False, "largest": 1, "moves": [], "operators": []}
"""What the judge says of a case with every check."""


class Course:
    """What the timing stage needs of an evaluation: a judge whose baseline and a sandbox whose candidate are `Side`s.

    `answers` are the judge's other answers by request; `gone` is called when the sandbox is killed.
    """

    def __init__(self, baseline: Side, candidate: Side, sizes: int = 4, compiled: Side | None = None, **answers: Any):
        self.clock = baseline.clock
        self.sides = {"eager": baseline, "compile": compiled}
        self.candidate = candidate
        self.answers = {
            "peaks": {"doubt": ""},
            "floor": {"cold": 1.0, "warm": 0.5},
            "clocks": {"sm_mhz": 1980, "throttle": ["idle"], "processes": [], "missing": {}},
            "inputs": {"args": [], "kwargs": {}, "empty": False, "tensors": [], "mutates": False},
            "load": {"flush_us": 100.0, "free_bytes": 64 << 30, "input_bytes": 1 << 20},
            "seal": lambda request: {"sets": [{} for _ in request["seeds"]]},
            "check": {"ok": True, "kind": "pass", "message": ""},
            "compile": {},
        } | answers
        self.settings = Settings(baselines=("eager", "compile") if compiled else ("eager",))
        self.record = Evaluation("", "")
        timing = [{"name": f"time-{number}", "held_out": False} for number in range(sizes)]
        cases = [{"name": "fp32", "held_out": False}, {"name": "secret", "held_out": True}]
        self.cases = {"timing": timing, "cases": cases}
        self.worker = SimpleNamespace(device={"l2_bytes": 50 << 20}, settle_spare=lambda: None)
        self.box = SimpleNamespace(kill=lambda: self.gone(), memory={"gpu": 0, "size": 8 << 30})
        self.gone: Callable[[], None] = lambda: None
        self.error: Stop | None = None
        """What the sandbox answers to the next request to load."""
        self.device = True
        self.task = SimpleNamespace(id="quick/add", sha="")
        self.asked: list[dict[str, Any]] = []

    def init(self, case: str) -> None:
        """The candidate is no class."""

    def judge(self, request: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(request)
        if request["op"] in ("time", "clear", "sealed"):
            side = self.sides[request["of"]]
            assert side is not None
            return side(request)
        self.clock.now += 0.002
        answer = self.answers.get(request["op"], {})
        answer = answer(request) if callable(answer) else answer
        return ABOUT | answer if request["op"] == "check" else dict(answer)

    def check(self, answer: dict[str, Any], **case: Any) -> dict[str, Any]:
        return self.judge({"op": "check", **answer, **case})

    def note_compiled(self, found: list[dict[str, Any]]) -> None:
        self.record.compile = found

    def drawn(self, purpose: str) -> int:
        return len(purpose)

    def ask(self, request: dict[str, Any], seconds: float, soft: bool = False) -> dict[str, Any]:
        if request["op"] == "load" and self.error:
            raise self.error
        if request["op"] in ("load", "give"):
            self.clock.now += 0.003
        return self.candidate(request)

    def guarded(self, action: Callable[[], Any]) -> Any:
        return action()

    def reopen(self) -> None:
        pass

    @contextlib.contextmanager
    def gpu(self, shared: bool) -> Iterator[None]:
        yield
