"""Inside the sandbox: calls of the candidate whose results are compared, each of them watched in the same way."""

import os
import sys
import time
from typing import TYPE_CHECKING, Any

import torch

from tools.executor.aliasing import overlaps
from tools.executor.arguments import nbytes, same_bytes, tensors_in
from tools.executor.aten import COPIES, FREE
from tools.executor.channel import Message
from tools.executor.sandbox import tripwire
from tools.executor.sandbox.account import Unseen, accounted
from tools.executor.sandbox.seen import Seen
from tools.executor.sandbox.watch import Record, Watch
from tools.executor.sandbox.zones import Zones
from tools.executor.unwritten import Poison

if TYPE_CHECKING:
    from tools.executor.sandbox.sandbox import Sandbox

HELD_BYTES = 64 << 20
"""Memory of earlier calls that is kept, so that nothing else can lie there."""
TABLES = 512
"""Operators behind tables that are reported: all that there are, if need be."""
READING = COPIES | FREE | {"ne", "as_strided", "view", "slice", "select", "unsqueeze", "view_as_real"}
"""Operators by which arguments are read: `ne` makes bools of bytes."""
LATE_S = 0.03
"""For threads that are still at work when a call has returned."""
_threads = sys._current_frames


class Calls:
    """Answers the request `call`. It keeps the arguments and results of the last calls."""

    def __init__(self, sandbox: "Sandbox"):
        self.sandbox = sandbox
        self.red: Zones | None = None
        """Around the arguments, on a device."""
        self.arguments: list[Any] = []
        self.earlier: list[list[torch.Tensor]] = []

    def do_call(self, request: Message) -> Message:
        """One call on the inputs in shared memory. With `again` their values lie where those of the last call were, else the memory
        of the last call holds garbage.
        """
        session, launches = self.sandbox.session, self.sandbox.launches
        # What the candidate has left behind to be called meanwhile is as much its work as what it does in the call.
        with accounted(os.urandom(8).hex()) as arrival:
            arguments = self._arguments(request)
        tensors = list(tensors_in(arguments))
        zones = Zones(self.red.device) if self.red else None
        watch = Watch(session, Poison(request["poison"]), Record(tensors, launches, self._tell), zones)
        before, seen = len(session.launches), Seen(session)
        session.noop, launches.record, launches.used, launches.count = request["noop"], watch.record, {}, 0
        reply: Message = {}
        unseen = Unseen()
        try:
            with accounted(watch.record.shown) as unseen, watch:
                result = self.sandbox.bound(request, arguments)()
            reply |= self._given(result, tensors)
        except BaseException as error:
            reply["error"] = self.sandbox.described(error)
        finally:
            session.noop, launches.record = False, None
        reply |= seen.report()
        reply["out_of_bounds"] += [found for z in (zones, self.red) if z for found in z.broken()]
        reply["tables"] = list(map(list, launches.used.items()))[:TABLES]
        # Two accounts of launches; a replay may leave them out before they come to the second.
        counted = len(session.launches) - before
        reply |= {"launches": counted if request["noop"] else min(counted, launches.count), "compiles": self.sandbox.compiles()}
        early = [row for row in arrival.rows if row[0] not in READING]
        return reply | {
            "torch": watch.record.report(),
            "unseen": [*early, *unseen.rows],
            "tampered": self._tampered(watch.record, arrival, unseen),
        }

    def _tell(self, row: list[Any]) -> None:
        self.sandbox.channel.send({"notice": "torch", "row": row})

    def _tampered(self, record: Record, *accounts: Unseen) -> list[str]:
        replaced = [name for name in record.operators & tripwire.KERNELS.keys() if tripwire.kernels(name) != tripwire.KERNELS[name]]
        own = tripwire.shadowed(record, self, self.sandbox, self.sandbox.launches, self.sandbox.channel)
        return [*self.sandbox.tampered(), *own, *replaced, *(["the profiler"] if any(account.broken for account in accounts) else [])][:16]

    def _arguments(self, request: Message) -> list[Any]:
        """The arguments; where the memory of the last call is used, the very same tensors too, as far as they fit."""
        places = self.sandbox.held
        if request["again"]:
            self.arguments = _kept(self.arguments, self.sandbox.take(request, places))
            return self.arguments
        kept = places if nbytes(places) <= HELD_BYTES else []
        for flat in kept:
            Poison(request["poison"] + 1).fill(flat.data)
        self.red = Zones(torch.accelerator.current_accelerator().type) if self.sandbox.device else None  # type: ignore[union-attr]
        self.arguments = self.sandbox.take(request, zones=self.red)
        # Until now, so that none of the new ones lies there.
        del kept
        return self.arguments

    def _given(self, result: Any, tensors: list[torch.Tensor]) -> Message:
        """The result, whether it was complete when the call returned, and what it shares memory with."""
        outputs = self.sandbox.outputs_in(result)
        late = self._late(outputs)
        with torch._C.DisableTorchFunction():
            shared = overlaps(outputs, tensors, [t for result in self.earlier for t in result])
        mine = {entry["output"] for entry in shared if entry["with"] == "input"}
        own = [output for number, output in enumerate(outputs) if number not in mine]
        self.earlier = [*self.earlier[-1:], own] if nbytes(own) <= HELD_BYTES else []
        return self.sandbox.give(result, tensors, tensors) | {"late": late, "shared": shared[:16]}

    def _late(self, outputs: list[torch.Tensor]) -> bool:
        """Whether the outputs still change: what lies there in the order of the stream, against what lies there in the end."""
        threads = len(_threads()) > 1
        if not (threads or self.sandbox.device) or nbytes(outputs) > HELD_BYTES:
            return False
        first = [output.detach().clone() for output in outputs]
        if self.sandbox.device:
            torch.accelerator.synchronize()
        if threads:
            time.sleep(LATE_S)
            if self.sandbox.device:
                torch.accelerator.synchronize()
        return not all(same_bytes(one, other.detach()) for one, other in zip(first, outputs, strict=True))


def _kept(old: Any, new: Any) -> Any:
    """`new` with the tensors of `old` that are the same memory in the same form."""
    if isinstance(new, torch.Tensor) and isinstance(old, torch.Tensor):
        same = (old.data_ptr(), old.shape, old.stride(), old.dtype) == (new.data_ptr(), new.shape, new.stride(), new.dtype)
        return old if same else new
    if isinstance(new, list | tuple) and type(old) is type(new) and len(old) == len(new):
        return type(new)(_kept(*pair) for pair in zip(old, new, strict=True))
    return new
