"""What the judge knows of a task's cases: their inputs, drawn from the seed, and the right answers, kept for the next candidate."""

from collections import OrderedDict
from typing import Any

import torch

from benchmark import oracle
from benchmark.task import Arguments, Oracle, Task

CACHE_BYTES = 2 << 30
DRAWN = 4
"""Input sets that are kept, as many as one size of timing asks for again."""

Key = tuple[str, str, int]
"""Digest of the task, case, seed."""


class Truths:
    """Inputs are drawn on the CPU, those of timing on `device`; right answers are computed on `device`."""

    def __init__(self) -> None:
        self.device = "cpu"
        self.known: OrderedDict[Key, Oracle] = OrderedDict()
        self.bytes = 0
        self.drawn: OrderedDict[Key, Arguments] = OrderedDict()

    def arguments(self, task: Task, case: str, seed: int) -> Arguments:
        """Inputs of a case; a few are kept, for nobody writes to them."""
        key = (task.sha, case, seed)
        if key not in self.drawn:
            # Timed inputs are large: they are drawn where they are used.
            timed = any(c.name == case for c in task.timing)
            self.drawn[key] = task.case(case).arguments(task.id, seed, self.device if timed else "cpu")
            if len(self.drawn) > DRAWN:
                self.drawn.popitem(last=False)
        return self.drawn[key]

    def oracle(self, task: Task, case: str, seed: int) -> Oracle:
        key = (task.sha, case, seed)
        if key in self.known:
            self.known.move_to_end(key)
            return self.known[key]
        truth = oracle.compute(task, self.placed(self.arguments(task, case, seed)))
        self.known[key] = truth
        self.bytes += _bytes(truth)
        while self.bytes > CACHE_BYTES and len(self.known) > 1:
            self.bytes -= _bytes(self.known.popitem(last=False)[1])
        return truth

    def placed(self, value: Any) -> Any:
        """On `device`."""
        if isinstance(value, dict):
            return {name: self.placed(item) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self.placed(item) for item in value)
        return value.to(self.device) if isinstance(value, torch.Tensor) else value


def _bytes(truth: Oracle) -> int:
    return sum(t.numel() * t.element_size() for t in (*truth.expected, *truth.honest, *truth.magnitude))
