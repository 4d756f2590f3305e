"""Inside the judge: what is known of a timing case without values. Shapes for a blank call, eager's operations, the least work."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch

from tools.executor.arguments import bind
from tools.executor.channel import Message
from tools.executor.wire import span

if TYPE_CHECKING:
    from tools.executor.judge.judge import Judge


class Estimates:
    """Answers the requests `estimate` and `least`; for each task once."""

    def __init__(self, judge: "Judge"):
        self.judge = judge
        self.known: dict[tuple[str, str], Message] = {}
        self.moved: dict[tuple[str, str], int | None] = {}

    def estimate(self, request: Message, fds: list[int]) -> Message:
        """`args` and `kwargs` as layouts without memory; `eager` and `work`, null where the reference cannot run without values."""
        key = (self.judge.task.sha, request["case"])
        if key not in self.known:
            self.known[key] = self._estimate(request["case"])
        return self.known[key]

    def least(self, request: Message, fds: list[int]) -> Message:
        """The `bytes` that a case must move at least; null where the reference cannot run without values."""
        key = (self.judge.task.sha, request["case"])
        if key not in self.moved:
            arguments = self.judge.truths.arguments(self.judge.task, request["case"], request["seed"])
            work = self.judge.truths.reference.work(arguments)
            self.moved[key] = None if work is None else work.moved
        return {"bytes": self.moved[key]}

    def _estimate(self, case: str) -> Message:
        task = self.judge.task
        arguments = task.case(case).arguments(task.id, 0, "meta")
        positional, keywords = bind(task, arguments)
        layout = {"args": [_blank(v) for v in positional.values()], "kwargs": {n: _blank(v) for n, v in keywords.items()}}
        reference = self.judge.truths.reference
        work = reference.work(arguments)
        eager = None if work is None else reference.eager(arguments)
        return layout | {"eager": eager, "work": work and asdict(work)}


def _blank(value: Any) -> Any:
    """A layout node as in `wire`, with no place in memory."""
    if isinstance(value, torch.Tensor):
        shape, strides = list(value.shape), list(value.stride())
        return {"t": {"dtype": str(value.dtype).removeprefix("torch."), "shape": shape, "strides": strides, "extent": span(shape, strides)}}
    if isinstance(value, torch.dtype | torch.layout):
        return {"d": str(value).removeprefix("torch.")}
    if isinstance(value, torch.device):
        return {"p": "device"}
    if isinstance(value, list | tuple):
        return {"l" if isinstance(value, list) else "u": [_blank(item) for item in value]}
    return {"f": repr(value)} if type(value) is float else {"v": value}
