"""The zygote: torch and triton imported once, forked for every candidate. Started by the broker with `-m`, one thread, no device.

Requests: `warm` (with the mode) and `fork` (with descriptors). It ends when the broker hangs up.
"""

import os
import signal
import socket
import sys
from typing import Any

from tools.executor import keeper
from tools.executor.channel import Channel, Closed, Message
from tools.executor.isolation import LEVELS


def main(fd: int) -> None:
    import numpy
    import torch
    import triton

    # A pool of threads does not survive a fork: the child would wait for it for ever.
    torch.set_num_threads(1)
    channel = Channel.inherited(fd)
    versions = {"python": sys.version.split()[0], "torch": torch.__version__, "triton": triton.__version__, "numpy": numpy.__version__}
    channel.send({"versions": versions})
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    zygote = Zygote()
    try:
        while True:
            request = channel.receive()
            fds, channel.fds = channel.fds, []
            channel.send(getattr(zygote, request["op"])(request, fds))
            for number in fds:
                os.close(number)
            _reap()
    except Closed:
        os._exit(0)


class Zygote:
    def __init__(self) -> None:
        self.devices: list[str] = []

    def warm(self, request: Message, fds: list[int]) -> Message:
        """Loads what a sandbox of this mode needs and finds out how strong the walls can be."""
        self.devices = request["devices"]
        if request["mode"] == "simulated":
            from tools import simulated

            simulated.warm()
        else:
            from tools.executor import device

            device.warm(request["target"])
        return self._levels(request["level"])

    def _levels(self, wanted: str) -> Message:
        """The strongest level, or the wanted one, with what was witnessed; None where it cannot be had. `process` is never chosen."""
        tried: dict[str, Any] = {}
        level = None
        with socket.create_server(("127.0.0.1", 0)) as server:
            for candidate in LEVELS[:2] if wanted == "auto" else (wanted,):
                tried[candidate] = found = keeper.probe(candidate, self.devices, server.getsockname()[1])
                if isinstance(found, dict) and (candidate == "process" or all(found.values())):
                    level = candidate
                    break
        return {"level": level, "tried": tried}

    def fork(self, request: Message, fds: list[int]) -> Message:
        pid = os.fork()
        if pid == 0:
            keeper.keep(request | {"devices": self.devices}, fds)
        return {"keeper": pid}


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


if __name__ == "__main__":
    main(int(sys.argv[1]))
