"""Inside the sandbox: the candidate's calls that are timed, one size at a time."""

import time
from typing import TYPE_CHECKING, Any

import torch
from triton.runtime.autotuner import Autotuner

from tools.executor.arguments import nbytes, tensors_in
from tools.executor.channel import Message
from tools.executor.clock import Bench, Place, bringing, places_for

if TYPE_CHECKING:
    from tools.executor.sandbox.sandbox import Sandbox


class TimedCalls:
    """Answers the requests `load`, `time`, `clear` and `give`, as `tools.executor.judge.baseline` does in the judge."""

    def __init__(self, sandbox: "Sandbox"):
        self.sandbox = sandbox
        self.tuning_s = 0.0
        self._watch_tuning()

    def do_load(self, request: Message) -> Message:
        """Takes one of several input sets for timing; the first one (`set` 0) begins anew and makes the buffers."""
        arguments = self.sandbox.take(request)
        if request["set"] == 0:
            self.nodes = [*request["args"], *request["kwargs"].values()]
            first = Place(self.sandbox.bound(request, arguments), self.sandbox.held)
            more = [self._place(request, first.buffers) for _ in range(places_for(first.buffers, request["flush"]) - 1)]
            self.arguments = {id(place): values for place, values in more} | {id(first): arguments}
            self.bench = Bench([first, *(place for place, _ in more)], request["flush"], request["mutates"])
        else:
            self.bench.sets.append(self.sandbox.held)
        # The judge writes the next values to the same shared memory.
        torch.accelerator.synchronize()
        if request["set"]:
            return {}
        facts = {"flush_us": self.bench.flush_us, "free_bytes": torch.accelerator.get_memory_info()[0]}
        return facts | {"input_bytes": nbytes(self.sandbox.held)}

    def _place(self, request: Message, like: list[torch.Tensor]) -> tuple[Place, list[Any]]:
        """The arguments once more, in memory of their own."""
        buffers = [buffer.clone() for buffer in like]
        arguments = self._laid_out(buffers)
        return Place(self.sandbox.bound(request, arguments), buffers), arguments

    def _laid_out(self, buffers: list[torch.Tensor]) -> list[Any]:
        free = iter(buffers)
        return [self.sandbox.inputs.read(node, lambda _: next(free)) for node in self.nodes]

    def do_time(self, request: Message) -> Message:
        block = self.bench.block(request["order"], request["stall"], request["warm"])
        return vars(block) | {"tuning_s": self.tuning_s}

    def do_sealed(self, request: Message) -> Message:
        """Calls on values that come with the request, one set for each; the results are in the shared memory before the answer."""
        bring = [bringing(self.sandbox.inputs, sent) for sent in request["sets"]]
        self.sandbox.outputs.clear()
        block, given = self.bench.sealed(bring, self._put, request["stall"])
        self.sandbox.outputs.settle()
        return vars(block) | {"given": given}

    def _put(self, place: Place, result: Any) -> Message:
        after = list(tensors_in(self._laid_out(place.buffers))) if self.bench.mutates else []
        return self.sandbox.put(result, list(tensors_in(self.arguments[id(place)])), after)

    def do_clear(self, request: Message) -> Message:
        self.bench.clear()
        return {}

    def do_give(self, request: Message) -> Message:
        """Writes the results of one call of the last block; the arguments only where they are results."""
        kept = self.bench.kept[request["call"]]
        arguments = list(tensors_in(self.arguments[id(kept.place)]))
        after = list(tensors_in(self._laid_out(kept.after))) if kept.after else []
        return self.sandbox.give(kept.result, arguments, after)

    def _watch_tuning(self) -> None:
        """Adds up what autotuning takes, in any call of this process: configurations are tried before they are timed here."""
        bench = Autotuner._bench

        def watched(tuner: Any, *args: Any, **kwargs: Any) -> Any:
            begun = time.perf_counter()
            try:
                return bench(tuner, *args, **kwargs)
            finally:
                self.tuning_s += time.perf_counter() - begun

        Autotuner._bench = watched
