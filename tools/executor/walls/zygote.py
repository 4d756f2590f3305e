"""The zygote: torch and triton imported once, forked for every candidate. Started by the broker with `-m`, one thread, no device.

Requests: `warm` (with the mode) and `fork` (with descriptors). It ends when the broker hangs up.
"""

import os
import signal
import sys
from pathlib import Path

from benchmark.errors import UserError
from tools import platforms
from tools.executor.channel import Channel, Closed, Message
from tools.executor.sandbox import watch
from tools.executor.walls import keeper, witness
from tools.executor.walls.isolation import Walls


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
            try:
                reply = getattr(zygote, request["op"])(request, fds)
            except UserError as error:
                reply = {"user_error": str(error)}
            channel.send(reply)
            for number in fds:
                os.close(number)
            _reap()
    except Closed:
        os._exit(0)


class Zygote:
    def __init__(self) -> None:
        self.walls: Walls | None = None

    def warm(self, request: Message, fds: list[int]) -> Message:
        """Loads what a sandbox of this mode needs and finds out how strong the walls can be."""
        watch.warm()
        if request["mode"] == "simulated":
            from tools import simulated

            simulated.warm()
        else:
            from tools.executor.sandbox import device

            device.warm(request["target"])
        _forget_ourselves()
        plan = {"mode": request["mode"], "targets": [request["target"]], "index": request.get("index", 0)}
        self.walls, tried = witness.strongest(request["level"], request["devices"], plan)
        if self.walls is None:
            return {"level": None, "layers": [], "tried": tried}
        return {"level": self.walls.level, "layers": self.walls.layers(), "tried": tried}

    def fork(self, request: Message, fds: list[int]) -> Message:
        if request["plan"]["mode"] == "simulated":
            for target in request["plan"]["targets"]:
                platforms.gpu_target(target)
        assert self.walls is not None
        return {"keeper": keeper.launch(request, fds, self.walls)}


def _forget_ourselves() -> None:
    """The packages that a candidate must not import: what is loaded of them goes, and so does their place on the path.

    What sandbox and walls need of `tools` is loaded by now; Landlock lets nothing more be read.
    """
    root = str(Path(__file__).resolve().parents[3])
    sys.path[:] = [p for p in sys.path if (p and str(Path(p).resolve()) != root) or "site-packages" in p]
    for name in [n for n in sys.modules if n.partition(".")[0] == "benchmark"]:
        del sys.modules[name]


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


if __name__ == "__main__":
    main(int(sys.argv[1]))
