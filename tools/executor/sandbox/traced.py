"""Inside the sandbox: which kernels a call runs on the device, and for how long."""

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import torch
from torch.profiler import profile

from tools.executor.channel import Message
from tools.platforms.counters import activities

if TYPE_CHECKING:
    from tools.executor.sandbox.sandbox import Sandbox

CALLS = 5
MOST = 64
"""Kernels that are reported."""


class TracedCalls:
    """Answers the request `trace`; on a real device only."""

    def __init__(self, sandbox: "Sandbox"):
        self.sandbox = sandbox

    def do_trace(self, request: Message) -> Message:
        """Microseconds and launches of each kernel over a few calls, after one that compiles and tunes."""
        call = self.sandbox.bound(request, self.sandbox.take(request))
        session: Any = self.sandbox.session
        call()
        torch.accelerator.synchronize()
        with profile(activities=activities()) as recorded:
            for _ in range(CALLS):
                call()
            torch.accelerator.synchronize()
        own = {kernel["name"] for kernel in session.kernels.values()}
        found: dict[str, list[float]] = defaultdict(list)
        for event in recorded.events():
            if event.device_type.name != "CPU":
                found[event.name].append(event.time_range.elapsed_us())
        longest = sorted(found.items(), key=lambda item: -sum(item[1]))[:MOST]
        return {"kernels": [{"name": n[:200], "us": sum(us), "calls": len(us), "own": n in own} for n, us in longest]}
