"""The judge's side of timing: the task's reference beside the candidate in its sandbox, the floor of a case, the state of the GPU."""

import contextlib
import functools
import signal
from collections.abc import Iterator
from functools import partial
from types import FrameType
from typing import Any, Protocol

import torch

from benchmark.task import Arguments, Task
from tools import platforms, roofline
from tools.executor.arguments import bind, memory_of, nbytes, tensors_in
from tools.executor.channel import Message
from tools.executor.clock import Bench, Place, bringing, places_for
from tools.executor.judge import peaks
from tools.executor.judge.fault import TaskFault
from tools.executor.judge.references import Line
from tools.executor.judge.truths import Truths
from tools.executor.wire import Region
from tools.platforms import clocks

BLOCK_S = 60.0
"""For a block of calls in a reference sandbox."""
COMPILED = 16
"""Compiled references that are kept for the next candidates of their tasks."""


class Source(Protocol):
    """What the judge knows of the evaluation at hand."""

    truths: Truths
    sending: Region
    sent: tuple[str, int] | None
    layout: Message
    line: Line | None

    @property
    def task(self) -> Task: ...


class Baseline:
    """One size: several sets of inputs on `device`, as in `sandbox.timed`; eager and compiled reference share their memory."""

    def __init__(self, task: Task, arguments: Arguments, device: str, flush_bytes: int):
        self.task, self.device = task, device
        self.arguments = arguments
        buffers = self.values(arguments)
        copies = [buffers, *([b.clone() for b in buffers] for _ in range(places_for(buffers, flush_bytes) - 1))]
        self.bench = Bench([self._place(task.reference, copy) for copy in copies], flush_bytes, bool(task.contract.written(arguments)))
        self.eager = self.bench.places
        self.compiled: list[Place] = []

    def also(self, compiled: Any) -> None:
        self.compiled = [self._place(compiled, place.buffers) for place in self.eager]

    def values(self, arguments: Arguments) -> list[torch.Tensor]:
        positional, keywords = bind(self.task, arguments)
        return [memory_of(tensor).to(self.device, copy=True) for tensor in tensors_in(positional | keywords)]

    def time(self, request: Message) -> Message:
        self.bench.places = self.compiled if request["of"] == "compile" else self.eager
        return vars(self.bench.block(request["order"], request["stall"], request["warm"]))

    def _place(self, function: Any, buffers: list[torch.Tensor]) -> Place:
        free = iter(buffers)
        parts = bind(self.task, self.arguments)
        first, named = ({n: _buffered(v, free) for n, v in part.items()} for part in parts)
        return Place(partial(function, *first.values(), **named), buffers)


class TimedBaseline:
    """Answers the requests of the timing stage. Whatever it raises is no fault of the candidate."""

    def __init__(self, judge: Source):
        self.judge = judge
        self.baseline: Baseline | None = None
        self.compiled: dict[str, Any] = {}
        self.loaded: list[tuple[str, int]] = []
        """Cases and seeds of the sets at hand."""

    def load(self, request: Message, fds: list[int]) -> Message:
        """Takes the inputs that were sent last as one of several sets; the first one begins anew."""
        assert self.judge.sent is not None
        self.loaded.append(self.judge.sent)
        if line := self.judge.line:
            line.take_over(self.judge.sending)
            answer = line.ask(request | self.judge.layout, BLOCK_S)
            return line.facts(answer) if request["set"] == 0 else {}
        arguments = self.judge.truths.arguments(self.judge.task, *self.judge.sent)
        if request["set"] == 0:
            self.baseline = None
            self.baseline = Baseline(self.judge.task, arguments, self.judge.truths.device, request["flush"])
            if self.judge.task.sha in self.compiled:
                self.baseline.also(self.compiled[self.judge.task.sha])
            facts = {"flush_us": self.baseline.bench.flush_us, "free_bytes": torch.accelerator.get_memory_info()[0]}
            return facts | {"input_bytes": nbytes(self.baseline.bench.sets[0])}
        assert self.baseline is not None
        self.baseline.bench.sets.append(self.baseline.values(arguments))
        return {}

    def seal(self, request: Message, fds: list[int]) -> Message:
        """Puts inputs for several calls, each with values of its own, into the shared memory."""
        task, sending = self.judge.task, self.judge.sending
        sending.clear()
        sets = []
        for seed in request["seeds"]:
            self.loaded.append((request["case"], seed))
            positional, keywords = bind(task, self.judge.truths.arguments(task, request["case"], seed))
            args = [sending.write(value) for value in positional.values()]
            sets.append({"args": args, "kwargs": {name: sending.write(value) for name, value in keywords.items()}})
        sending.settle()
        if self.judge.line:
            self.judge.line.take_over(sending)
        return {"sets": sets}

    def sealed(self, request: Message, fds: list[int]) -> Message:
        """What the sandbox does with the same values. The results are carried off to where it cannot read them."""
        if line := self.judge.line:
            return line.ask(request, BLOCK_S)
        assert self.baseline is not None
        bring = [bringing(self.judge.sending, sent) for sent in request["sets"]]
        self.baseline.bench.places = self.baseline.eager
        block, _ = self.baseline.bench.sealed(bring, self._carried_off, request["stall"])
        return vars(block)

    def _carried_off(self, place: Place, result: Any) -> list[torch.Tensor]:
        assert self.baseline is not None
        after = place.buffers if self.baseline.bench.mutates else []
        return [tensor.clone() for tensor in (*tensors_in(result), *after)]

    def time(self, request: Message, fds: list[int]) -> Message:
        if line := self.judge.line:
            return line.ask(request, BLOCK_S)
        assert self.baseline is not None
        return self.baseline.time(request)

    def clear(self, request: Message, fds: list[int]) -> Message:
        """Forgets the results of the last block."""
        if line := self.judge.line:
            return line.ask({"op": "clear"}, BLOCK_S)
        assert self.baseline is not None
        self.baseline.bench.kept = []
        torch.accelerator.synchronize()
        return {}

    def rest(self, request: Message, fds: list[int]) -> Message:
        """Gives the memory of a timed size back."""
        self.baseline = None
        for case, seed in self.loaded:
            self.judge.truths.forget(self.judge.task, case, seed)
        self.loaded = []
        torch.accelerator.empty_cache()
        if self.judge.line:
            # Where it is lost, so is what it held.
            with contextlib.suppress(TaskFault):
                self.judge.line.ask({"op": "rest"}, BLOCK_S)
        return {}

    def compile(self, request: Message, fds: list[int]) -> Message:
        """Compiles the reference for a case, within `seconds`; `{error}` where that fails."""
        if self.judge.line:
            return {"error": "torch.compile is not tried on a reference that is not ours"}
        task = self.judge.task
        arguments = task.case(request["case"]).arguments(task.id, request["seed"], self.judge.truths.device)
        # A pool of compilers would be left behind.
        torch._inductor.config.compile_threads = 1
        if task.sha not in self.compiled and len(self.compiled) >= COMPILED:
            self.compiled.clear()
            torch._dynamo.reset()
        made = self.compiled.get(task.sha) or torch.compile(task.reference, dynamic=False)
        try:
            with Alarm(request["seconds"]):
                sized = Baseline(task, arguments, self.judge.truths.device, 1 << 20)
                sized.also(made)
                sized.compiled[0].call()
                torch.accelerator.synchronize()
        except (Exception, Overdue) as error:
            # What was begun would be taken for compiled.
            self.compiled.clear()
            torch._dynamo.reset()
            return {"error": f"torch.compile: {type(error).__name__}: {str(error).strip()}"[:300]}
        self.compiled[task.sha] = made
        return {}

    def peaks(self, request: Message, fds: list[int]) -> Message:
        """What this GPU reaches, measured once: bytes/s of a copy, FLOP/s of products; and why its sheet is not to be believed, or ""."""
        device = self.judge.truths.device
        reached = _reached(device)
        return {"reached": reached, "doubt": peaks.doubt(reached, platforms.detect().sheet)}

    def floor(self, request: Message, fds: list[int]) -> Message:
        """Microseconds that a call of the case takes at best, with a cold and a warm cache; null where they are not known."""
        task, sheet = self.judge.task, platforms.detect().sheet
        work = self.judge.truths.reference.work(task.case(request["case"]).arguments(task.id, request["seed"], "meta"))
        if work is None or sheet is None:
            return {"cold": None, "warm": None}
        return {name: roofline.floor_us(work, sheet, margin=1.0, warm=name == "warm") for name in ("cold", "warm")}

    def clocks(self, request: Message, fds: list[int]) -> Message:
        index = torch.device(self.judge.truths.device).index
        return clocks.sample(index or 0)


@functools.cache
def _reached(device: str) -> dict[str, float]:
    return peaks.measured(device)


class Overdue(BaseException):
    """The time is up. No `Exception`, which compilers catch on their way."""


class Alarm:
    """Raises `Overdue` in the main thread when the time is up; at the end once more, where somebody has caught it."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self.rang = False

    def __enter__(self) -> None:
        self.before = signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *error: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)
        if self.rang:
            self._ring()

    def _ring(self, number: int = 0, frame: FrameType | None = None) -> None:
        self.rang = True
        raise Overdue(f"not done in {self.seconds:.0f} s")


def _buffered(value: Any, free: Iterator[torch.Tensor]) -> Any:
    """The same with its tensors laid over the buffers, one after another."""
    if isinstance(value, list | tuple):
        return type(value)(_buffered(item, free) for item in value)
    if not isinstance(value, torch.Tensor):
        return value
    return next(free).as_strided(value.shape, value.stride())
