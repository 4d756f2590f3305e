"""What the judge knows of a task's cases: their inputs, drawn from the seed, and the right answers, kept for the next candidate."""

import contextlib
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from benchmark import oracle
from benchmark.task import Arguments, Oracle, Task
from tools.executor.arguments import nbytes
from tools.executor.judge.fault import TaskFault
from tools.executor.judge.references import Reference
from tools.executor.used import moves

CACHE_BYTES = 2 << 30
DRAWN = 4
"""Input sets that are kept, as many as one size of timing asks for again."""

Key = tuple[str, str, int]
"""Digest of the task, case, seed."""


@dataclass(frozen=True)
class Truth:
    """The right answer, and the operators that only move elements by which the reference finds it; copies count as such where it does
    nothing else.
    """

    oracle: Oracle
    moves: frozenset[str]
    operators: frozenset[str]
    """All that the reference uses, views apart."""


class Truths:
    """Inputs are drawn on the CPU, those of timing on `device`; right answers are computed on `device`."""

    reference: Reference
    """Of the task that is asked about."""

    def __init__(self) -> None:
        self.device = "cpu"
        self.known: OrderedDict[Key, Truth] = OrderedDict()
        self.bytes = 0
        self.drawn: OrderedDict[Key, Arguments] = OrderedDict()

    def arguments(self, task: Task, case: str, seed: int) -> Arguments:
        """Inputs of a case; a few are kept, for nobody writes to them."""
        key = (task.sha, case, seed)
        if key not in self.drawn:
            # They are drawn where they are used.
            large = task.case(case).device_only or any(c.name == case for c in task.timing)
            with blamed():
                self.drawn[key] = task.case(case).arguments(task.id, seed, self.device if large else "cpu")
            if len(self.drawn) > DRAWN:
                self.drawn.popitem(last=False)
        return self.drawn[key]

    def truth(self, task: Task, case: str, seed: int) -> Truth:
        key = (task.sha, case, seed)
        if key in self.known:
            self.known.move_to_end(key)
            return self.known[key]
        arguments = self.placed(self.arguments(task, case, seed))
        with blamed(), self.reference.watched() as used:
            right = oracle.compute(task, arguments)
        truth = self.known[key] = Truth(right, moves(used.names), frozenset(used.names))
        self.bytes += _bytes(right)
        while self.bytes > CACHE_BYTES and len(self.known) > 1:
            self.bytes -= _bytes(self.known.popitem(last=False)[1].oracle)
        return truth

    def forget(self, task: Task, case: str, seed: int) -> None:
        """What nobody will ask for again makes room."""
        key = (task.sha, case, seed)
        self.drawn.pop(key, None)
        if truth := self.known.pop(key, None):
            self.bytes -= _bytes(truth.oracle)

    def shared(self, task: Task, case: str, seed: int) -> list[dict[str, Any]]:
        """What the reference's own outputs share memory with, as `overlaps` tells it."""
        own = oracle.copied(self.placed(self.arguments(task, case, seed)))
        with blamed():
            return self.reference.shared(own)

    def placed(self, value: Any) -> Any:
        """On `device`."""
        if isinstance(value, dict):
            return {name: self.placed(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.placed(item) for item in value)
        if isinstance(value, torch.device):
            return torch.device(self.device)
        return value.to(self.device) if isinstance(value, torch.Tensor) else value


@contextlib.contextmanager
def blamed() -> Iterator[None]:
    """What fails inside is the task's fault; running out of memory is ours."""
    try:
        yield
    except (MemoryError, torch.OutOfMemoryError, TaskFault):
        raise
    except Exception as error:
        raise TaskFault(f"{type(error).__name__}: {error}"[:500]) from error


def _bytes(truth: Oracle) -> int:
    return nbytes((*truth.expected, *truth.honest, *truth.magnitude))
