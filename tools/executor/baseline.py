"""The task's reference as the judge times it, beside the candidate in its sandbox."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch

from benchmark.task import Arguments, Task
from tools.executor.arguments import bind, memory_of, tensors_in
from tools.executor.channel import Message
from tools.executor.clock import Bench


class Baseline:
    """One size: several sets of inputs on `device`, as in `tools.executor.timed`."""

    def __init__(self, task: Task, arguments: Arguments, device: str, flush_bytes: int):
        self.device = device
        positional, keywords = bind(task, arguments)
        buffers: list[torch.Tensor] = []
        values = iter(_flat(positional | keywords))
        first, named = ({n: self._buffered(v, values, buffers) for n, v in part.items()} for part in (positional, keywords))
        self.bench = Bench(partial(task.reference, *first.values(), **named), buffers, [[b.clone() for b in buffers]], flush_bytes)
        self.task = task

    def add(self, arguments: Arguments) -> None:
        positional, keywords = bind(self.task, arguments)
        self.bench.sets.append([tensor.to(self.device) for tensor in _flat(positional | keywords)])

    def time(self, request: Message) -> Message:
        return vars(self.bench.block(request["order"], request["keep"], request["stall_us"]))

    def _buffered(self, value: Any, flat: Iterator[torch.Tensor], buffers: list[torch.Tensor]) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(self._buffered(item, flat, buffers) for item in value)
        if not isinstance(value, torch.Tensor):
            return value
        buffers.append(next(flat).to(self.device, copy=True))
        return buffers[-1].as_strided(value.shape, value.stride())


def _flat(arguments: Arguments) -> list[torch.Tensor]:
    return [memory_of(tensor) for tensor in tensors_in(arguments)]
