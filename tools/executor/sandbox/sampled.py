"""Inside the sandbox: a call on blank memory at a timing size, of which a few programs of each launch are interpreted and counted."""

from typing import TYPE_CHECKING, Any

from tools.executor.channel import Message
from tools.executor.wire import DTYPES, Node

if TYPE_CHECKING:
    from tools.executor.sandbox.sandbox import Sandbox

MOST = 64
"""Launches that are reported."""


class SampledCalls:
    """Answers the request `sample`; on the simulated device only."""

    def __init__(self, sandbox: "Sandbox"):
        self.sandbox = sandbox

    def do_sample(self, request: Message) -> Message:
        """The counts of each launch, as in `simulated.Session.traffic`. What the call returns is worth nothing."""
        session: Any = self.sandbox.session
        arguments = [self._blank(node) for node in (*request["args"], *request["kwargs"].values())]
        before, watching = len(session.traffic), session.watching
        session.sample, session.watching = request["programs"], {"traffic"}
        try:
            self.sandbox.bound(request, arguments)()
        finally:
            session.sample, session.watching = None, watching
        found = session.traffic[before:]
        del session.traffic[before:]
        return {"traffic": found[:MOST], "launches": len(found)}

    def _blank(self, node: Node) -> Any:
        ((kind, body),) = node.items()
        if kind == "t":
            session: Any = self.sandbox.session
            return session.blank(body["extent"], DTYPES[body["dtype"]]).as_strided(body["shape"], body["strides"])
        if kind in ("l", "u"):
            values = [self._blank(item) for item in body]
            return values if kind == "l" else tuple(values)
        return self.sandbox.inputs.read(node)
