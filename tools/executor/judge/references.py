"""How the judge comes at what a task's reference does: in its own process where the task is ours, by bytes where it is not."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch

from benchmark import oracle
from benchmark.importers import described
from benchmark.origin import Origin
from benchmark.task import Arguments, Task
from tools.executor.aliasing import overlaps
from tools.executor.arguments import bound, nbytes, tensors_in
from tools.executor.channel import Channel, Closed, Malformed, Message, TooLong, readable
from tools.executor.judge.fault import TaskFault
from tools.executor.memory import regions
from tools.executor.used import Used
from tools.executor.wire import BadLayout, Copies, Overflow, Region
from tools.modelled import Eager
from tools.operations import trace
from tools.roofline import Work, minimal

CALL_S = 30.0
"""For one answer of a reference sandbox."""
FIRST = 1 << 20
"""Number of the judge's first request to one; the broker has used smaller ones."""
MOST = 1e30
"""Bytes or operations."""
NO_ANSWER = "the reference's process wrote what is no answer"
WORK: dict[str, Any] = {"read": 0, "written": 0, "products": {}, "plain": 0, "sure_read": 0, "sure_products": {}, "notes": []}
"""As a sandbox tells it: values of these kinds, numbers of any type but none below these."""
OPERATION: dict[str, Any] = {"name": "", "read": 0, "written": 0, "products": 0, "dtype": "", "tiles": 1, "reduction": False}
"""Likewise, of `Eager.operations`."""


class Reference(Protocol):
    def watched(self) -> Any:
        """A block that says which operators the reference has used in it: an object with `names`."""

    def shared(self, arguments: Arguments) -> list[Message]:
        """What the reference's own outputs share memory with, as `overlaps` tells it. The arguments may be written."""

    def work(self, arguments: Arguments) -> Work | None:
        """The least work on arguments of these shapes; None where the reference needs values."""

    def eager(self, arguments: Arguments) -> Any:
        """Eager torch's operations likewise."""


class Here:
    """The reference of a task of ours."""

    def __init__(self, task: Task):
        self.task = task

    def watched(self) -> Used:
        return Used()

    def shared(self, arguments: Arguments) -> list[Message]:
        outputs = oracle.flattened(oracle.call(self.task.reference, arguments))
        return overlaps(outputs, list(tensors_in(arguments)), [])

    def work(self, arguments: Arguments) -> Work | None:
        return minimal(self.task, arguments)

    def eager(self, arguments: Arguments) -> Any:
        return Eager.of(trace(self.task.reference, arguments)[1]).operations


def _alike(found: Any, kinds: dict[str, Any]) -> bool:
    return isinstance(found, dict) and found.keys() == kinds.keys() and all(_kind(found[name], kind) for name, kind in kinds.items())


def _kind(value: Any, kind: Any) -> bool:
    if kind == {}:
        return isinstance(value, dict) and all(_kind(item, 0) for item in value.values())
    if type(kind) is int:
        return type(value) in (int, float) and kind <= value < MOST
    return type(value) is type(kind)


class _Names:
    def __init__(self) -> None:
        self.names: set[str] = set()


class Line:
    """The judge's end of a reference sandbox, and the memory shared with it: the judge writes arguments, and reads what it finds there
    by layouts that it checks. Every failure is a `TaskFault`, in a sentence; after one that left no answer nothing more is asked.
    """

    def __init__(self, channel: Channel, memory: torch.Tensor, mutates: tuple[str, ...], device: str, serial: str):
        self.channel, self.mutates, self.device, self.serial = channel, mutates, device, serial
        self.sending, self.returned = regions(memory)
        self.number = FIRST
        self.lost = ""
        self.used: set[str] = set()
        self.overlapping: list[Message] = []
        self.reference: Any = None
        """The task's, which calls this."""

    def ask(self, request: Message, seconds: float = CALL_S) -> Message:
        if self.lost:
            raise TaskFault(self.lost)
        self.number += 1
        try:
            self.channel.send(request | {"id": self.number})
            answer = self._answer(time.monotonic() + seconds)
        except TooLong:
            raise TaskFault("the arguments of the task are too many to be described") from None
        except Closed:
            answer = self._gone("the reference's process ended before it answered")
        except Malformed:
            answer = self._gone(NO_ANSWER)
        if error := answer.get("user_error"):
            raise TaskFault(str(error)[:500])
        if error := answer.get("error"):
            message = error.get("message") if isinstance(error, dict) else error
            raise TaskFault(f"the reference fails: {str(message)[:400]}")
        return answer

    def _answer(self, deadline: float) -> Message:
        while readable([self.channel.fileno()], deadline - time.monotonic()):
            message = self.channel.receive()
            if message.get("id") == self.number:
                return message
        return self._gone("the reference gave no answer in time")

    def _gone(self, how: str) -> Message:
        self.lost = how
        raise TaskFault(how)

    def inputs(self, recipe: dict[str, Any], seed: int, device: str) -> Arguments:
        found = self.ask({"op": "inputs", "recipe": recipe, "seed": seed})["arguments"]
        if not isinstance(found, dict):
            raise TaskFault(NO_ANSWER)
        read = self._reader(device)
        return {str(name): read(node) for name, node in found.items()}

    def call(self, signature: Any, arguments: Arguments) -> Any:
        """What the reference returns; the arguments that it writes are written."""
        positional, keywords = bound(signature, arguments)
        given = positional | keywords
        tensors = list(tensors_in(given))
        written = [number for number, tensor in enumerate(tensors) if any(tensor is arguments.get(name) for name in self.mutates)]
        answer = self.ask({"op": "refer", "written": written} | self._sent(positional, keywords))
        used = answer.get("used")
        self.used |= {str(name)[:80] for name in used[:1000]} if isinstance(used, list) else set()
        shared = answer.get("shared")
        self.overlapping = [entry for entry in shared if isinstance(entry, dict)] if isinstance(shared, list) else []
        read = self._reader(self.device)
        for number, node in zip(written, answer.get("after") or [], strict=False):
            tensors[number].copy_(read(node))
        return self._result(answer.get("result"), tensors, read)

    def _sent(self, positional: Arguments, keywords: Arguments) -> Message:
        self.sending.clear()
        try:
            args, kwargs = [self.sending.write(v) for v in positional.values()], {n: self.sending.write(v) for n, v in keywords.items()}
        except Overflow as error:
            raise TaskFault(f"the case is larger than the memory that is shared with the reference: {error}") from None
        self.sending.settle()
        return {"args": args, "kwargs": kwargs}

    def _result(self, node: Any, tensors: list[torch.Tensor], read: Callable[[Any], Any]) -> Any:
        if isinstance(node, dict) and isinstance(node.get("l"), list):
            return [self._result(item, tensors, read) for item in node["l"]]
        if isinstance(node, dict) and type(node.get("a")) is int and 0 <= node["a"] < len(tensors):
            return tensors[node["a"]]
        return read(node)

    def _reader(self, device: str) -> Callable[[Any], Any]:
        """Reads the nodes of one answer, which are together no larger than the memory that they lie in: neither is what a node names
        again and again, nor the elements that one stands for many times.
        """
        copies, left = Copies(self.returned.size), self.returned.size

        def read(node: Any) -> Any:
            nonlocal left
            try:
                found = self.returned.read(node, lambda flat: copies(flat).to(device))
            except (BadLayout, ValueError) as error:
                raise TaskFault(f"the reference's process gave {error}") from None
            left -= nbytes(tensors_in(found))
            if left < 0:
                raise TaskFault("a tensor of the task has more elements than the memory shared with its reference holds")
            return found

        return read

    @contextmanager
    def watched(self) -> Iterator[_Names]:
        self.used, found = set(), _Names()
        yield found
        found.names = self.used

    def shared(self, arguments: Arguments) -> list[Message]:
        self.reference(**arguments)
        return self.overlapping

    def work(self, arguments: Arguments) -> Work | None:
        found = self._estimated(arguments).get("work")
        if found is None:
            return None
        if not _alike(found, WORK):
            raise TaskFault(NO_ANSWER)
        return Work(**{**found, "notes": tuple(found["notes"])})

    def eager(self, arguments: Arguments) -> Any:
        found = self._estimated(arguments).get("eager")
        if not isinstance(found, list) or not all(_alike(operation, OPERATION) for operation in found):
            raise TaskFault(NO_ANSWER)
        return found

    def _estimated(self, arguments: Arguments) -> Message:
        return self.ask({"op": "work", "layout": {name: described.node(value) for name, value in arguments.items()}})

    @staticmethod
    def facts(answer: Message) -> Message:
        """What a loaded size is like; only numbers."""
        names = ("flush_us", "free_bytes", "input_bytes")
        found = {name: answer[name] for name in names if type(answer.get(name)) in (int, float) and 0 <= answer[name] < 1e15}
        if len(found) < len(names):
            raise TaskFault(NO_ANSWER)
        return found

    def close(self) -> None:
        self.channel.close()

    def take_over(self, region: Region) -> None:
        """What was written to another region, at the same places."""
        size = region.used
        self.sending.bytes[:size].copy_(region.bytes[:size])
        self.sending.settle()


def opened(task_id: str, about: Message, channel: Channel, memory: torch.Tensor, device: str, serial: str) -> tuple[Task, Line]:
    """A foreign task, from what the broker says of it."""
    origin = Origin(
        about["kind"],
        about["path"],
        about["named"],
        about["entry"],
        "",
        about["options"],
        about["digest"],
        description=about["description"],
    )
    line = Line(channel, memory, tuple(about["description"]["mutates"]), device, serial)
    task = described.task(task_id, origin, line)
    line.reference = task.reference
    return task, line
