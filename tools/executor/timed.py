"""Inside the sandbox: the candidate's calls that are timed, one size at a time."""

from typing import TYPE_CHECKING

from tools.executor.arguments import tensors_in
from tools.executor.channel import Message
from tools.executor.clock import Bench

if TYPE_CHECKING:
    from tools.executor.sandbox import Sandbox


class TimedCalls:
    """Answers the requests `load`, `time` and `give`, as `tools.executor.baseline` does in the judge."""

    def __init__(self, sandbox: "Sandbox"):
        self.sandbox = sandbox

    def do_load(self, request: Message) -> Message:
        """Takes one of several input sets for timing; the first one (`set` 0) begins anew and makes the buffers."""
        if request["set"] == 0:
            self.arguments, buffers = self.sandbox.take(request), self.sandbox.held
            self.nodes = [*request["args"], *request["kwargs"].values()]
            self.bench = Bench(self.sandbox.bound(request, self.arguments), buffers, [[b.clone() for b in buffers]], request["flush"])
        else:
            self.sandbox.take(request)
            self.bench.sets.append(self.sandbox.held)
        return {}

    def do_time(self, request: Message) -> Message:
        return vars(self.bench.block(request["order"], request["keep"], request["stall_us"]))

    def do_give(self, request: Message) -> Message:
        """Writes the results of one of the timed calls that were kept; the arguments only where they are results."""
        result, buffers = self.bench.kept[request["kept"]]
        arguments = list(tensors_in(self.arguments))
        if not request["after"]:
            return self.sandbox.give(result, arguments, [])
        free = iter(buffers)
        after = [self.sandbox.inputs.read(node, lambda _: next(free)) for node in self.nodes]
        return self.sandbox.give(result, arguments, list(tensors_in(after)))
