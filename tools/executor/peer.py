"""A trusted process that the broker has started, and the channel to it."""

import os
import subprocess
import sys
from pathlib import Path

from benchmark import secrets
from tools.executor.channel import Channel, Closed, Malformed, Message, readable
from tools.executor.remote import Cancelled

ROOT = Path(__file__).resolve().parents[2]
START_S = 180.0
"""Importing torch from a cold disk takes a while."""
JUDGE_S = 300.0
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""One thread: a pool does not survive a fork, and evaluations share the cores."""
KEPT_VARIABLES = frozenset({"PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CC", "CXX"})
KEPT_ENDING = "VISIBLE_DEVICES"
"""What of the environment reaches a process from which candidates are started, by name or by the end of the name; no key is among it."""


class WorkerLost(Exception):
    """A trusted process died or fell silent; the evaluation may be tried again."""


class Peer:
    """A trusted process and the channel to it."""

    def __init__(self, module: str, environment: dict[str, str]):
        self.name = module.rpartition(".")[2]
        self.errors = os.memfd_create(self.name)
        self.channel, theirs = Channel.pair()
        command = [sys.executable, "-P", "-m", module, str(theirs.fileno())]
        self.process = subprocess.Popen(
            command, env=environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=self.errors, stderr=self.errors,
            start_new_session=True,
        )  # fmt: skip
        theirs.close()
        self.started = False

    @classmethod
    def without_secrets(cls, module: str) -> "Peer":
        """One from which candidates are started: it has no secrets."""
        kept = {n: v for n, v in os.environ.items() if n in KEPT_VARIABLES or n.endswith(KEPT_ENDING)}
        return cls(module, kept | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"} | SINGLE)

    @classmethod
    def like_caller(cls, module: str) -> "Peer":
        """One that no candidate comes near: it finds what the caller finds, except keys."""
        path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        return cls(module, secrets.without() | {"PYTHONPATH": path} | SINGLE)

    def start(self, cancelled: int) -> Message:
        """What it says of itself when it is ready; nothing where that was heard before."""
        if self.started:
            return {}
        hello = self.answer(cancelled, START_S)
        self.started = True
        return hello

    def ask(self, message: Message, cancelled: int, fds: tuple[int, ...] = (), seconds: float = JUDGE_S) -> Message:
        try:
            self.channel.send(message, fds)
        except Closed:
            raise self.lost("is gone") from None
        return self.answer(cancelled, seconds)

    def answer(self, cancelled: int, seconds: float) -> Message:
        ready = readable([self.channel.fileno(), cancelled], seconds)
        if cancelled in ready:
            raise Cancelled
        if not ready:
            raise self.lost(f"did not answer in {seconds:.0f} s")
        try:
            return self.channel.receive()
        except (Closed, Malformed) as error:
            raise self.lost(f"broke off {error}") from None

    def lost(self, what: str) -> WorkerLost:
        tail = os.pread(self.errors, 1 << 20, 0).decode("utf-8", "replace").strip().splitlines()[-1:]
        self.stop()
        return WorkerLost(f"the {self.name} {what.strip()}" + (f": {tail[0][:300]}" if tail else ""))

    def stop(self) -> None:
        if self.channel.fileno() < 0:
            return
        self.channel.close()
        os.close(self.errors)
        # The zygote ends by itself: its keepers watch their own lines.
        self.process.kill()
        self.process.wait()
