"""The broker's hold on one sandbox: asks it, times it, collects what it prints, kills it."""

import contextlib
import os
import time
from collections.abc import Sequence
from typing import Any

from tools.executor.channel import Channel, Closed, Malformed, Message, readable

LOG_BYTES = 16384
KILL_S = 10.0
COMPILATIONS, COMPILING_S = 64, 180.0
"""Compilations per request, and their seconds in a sandbox's life, that get time of their own: the sandbox announces them, so they are
not to be believed without end."""

MOST_TOLD = 1024
"""Rows of torch's work that are heard before an answer, of each kind the last."""


class Hung(Exception):
    """No answer in time."""


class Died(Exception):
    """The sandbox ended before it answered.

    `code` as in `subprocess`: negative for a signal; None where it had hung up and was killed. `over`: what it used too much of
    (memory, disk), where the keeper ended it for that. `unkept`: its keeper is gone, which no candidate can reach.
    """

    def __init__(self, code: int | None, over: str | None = None, unkept: bool = False):
        super().__init__(code)
        self.code = code
        self.over = over
        self.unkept = unkept


class Cancelled(Exception):
    """The caller does not want the evaluation any more."""


class Log:
    """What the candidate prints: the first part is kept, the rest is read and dropped."""

    def __init__(self) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self.kept = b""
        self.truncated = False
        self.ended = False

    def drain(self) -> int:
        """Reads what is there, at most 64 KiB; returns how much it was."""
        try:
            data = os.read(self.reader, 1 << 16)
        except BlockingIOError:
            return 0
        room = LOG_BYTES - len(self.kept)
        self.kept += data[:room]
        self.truncated |= len(data) > room
        self.ended = not data
        return len(data)

    def text(self, start: int = 0, end: int | None = None) -> str:
        return self.kept[start:end].decode("utf-8", "replace")

    def close(self) -> None:
        os.close(self.reader)


class RemoteSandbox:
    """Is made before there is a candidate. `plan` is what it was made for; `memory` describes the memory that it shares, under `fd`."""

    def __init__(self, cancelled: int, plan: Message, fd: int, memory: Message, heard: bool = True) -> None:
        """`cancelled` is a descriptor that becomes readable when the evaluation is to be given up. Without `heard` what is printed
        goes nowhere."""
        self.plan = plan
        self.fd = fd
        self.memory = memory
        self.hello: Message | None = None
        self.control, self.control_end = Channel.pair(most_fds=0)
        self.line, self.line_end = Channel.pair()
        self.logs = {"stdout": Log(), "stderr": Log()} if heard else {}
        self.writers = [log.writer for log in self.logs.values()] or [os.open(os.devnull, os.O_WRONLY) for _ in range(2)]
        self.cancelled = cancelled
        self.exit: int | None = None
        self.over: str | None = None
        self.ended = False
        self.max_rss = 0
        self.number = 0
        self.compiling_s = COMPILING_S
        """What is left for compilations."""
        self.phase = "run"
        """`compile` while the sandbox says that it compiles, else `run`."""

    @property
    def ends(self) -> tuple[int, int, int, int]:
        """The other ends, for the zygote: the keeper's line, the sandbox's line, standard output and error."""
        return self.line_end.fileno(), self.control_end.fileno(), self.writers[0], self.writers[1]

    def handed_over(self) -> None:
        self.line_end.close()
        self.control_end.close()
        for writer in self.writers:
            os.close(writer)

    def wait(self, seconds: float) -> Message:
        """What the sandbox says when its walls and its device are there: `ready`, or `broken` with the reason."""
        if self.hello is None:
            try:
                self.hello = self.answer(None, seconds)
            except (Died, Hung, Malformed) as error:
                self.hello = {"broken": f"{type(error).__name__}: {error}"}
        return self.hello

    @property
    def alive(self) -> bool:
        """Whether its keeper still holds it: the kernel may have killed it while it waited, the first of all when memory runs out."""
        self._hear(0.0)
        return not self.ended

    def ask(self, request: Message, seconds: float, compile_s: float = 0.0, fds: Sequence[int] = ()) -> Message:
        """Sends a request and waits for its answer. Time in announced compilations is counted apart, `compile_s` for each."""
        self.number += 1
        try:
            self.control.send(request | {"id": self.number}, fds)
        except Closed:
            raise self._death() from None
        return self.answer(self.number, seconds, compile_s)

    def answer(self, number: int | None, seconds: float, compile_s: float = 0.0) -> Message:
        left, compilations = {"run": seconds, "compile": compile_s}, 0
        self.phase = "run"
        told: dict[str, Any] = {}
        while True:
            start = time.monotonic()
            message = self._receive(left[self.phase])
            took = time.monotonic() - start
            left[self.phase] -= took
            self.compiling_s -= took if self.phase == "compile" else 0.0
            if message is None:
                self.kill()
                raise Hung
            if message.get("id") == number:
                return message | {"told": list(told.values())}
            if message.get("notice") == "torch" and number is not None:
                # What it has said on the way stays said, whatever its answer leaves out.
                row = message.get("row")
                kind = str(row[:3]) if isinstance(row, list) else ""
                if kind in told or len(told) < MOST_TOLD:
                    told[kind] = row
                continue
            if message.get("notice") not in ("compile", "run"):
                raise Malformed(f"an answer out of turn: {str(message)[:80]}")
            compilations += message["notice"] == "compile"
            self.phase = message["notice"] if compilations <= COMPILATIONS else "run"
            left["compile"] = min(compile_s, self.compiling_s)

    def _receive(self, seconds: float) -> Message | None:
        """The next message of the sandbox, or None when the time is up."""
        deadline = time.monotonic() + seconds
        logs = {log.reader: log for log in self.logs.values() if not log.ended}
        while (left := deadline - time.monotonic()) > 0:
            ready = readable([self.control.fileno(), self.cancelled, *logs], left)
            if self.cancelled in ready:
                raise Cancelled
            for fd in [f for f in ready if f in logs]:
                logs[fd].drain()
                if logs[fd].ended:
                    del logs[fd]
            if self.control.fileno() in ready:
                try:
                    return self.control.receive()
                except Closed:
                    raise self._death() from None
        return None

    def _death(self) -> Died:
        self._hear(0.5)
        code = self.exit
        self.kill()
        return Died(code, self.over, unkept=self.ended and self.exit is None)

    def _hear(self, seconds: float) -> None:
        """Waits for the keeper to say that the sandbox has ended."""
        if self.ended or not readable([self.line.fileno()], seconds):
            return
        self.ended = True
        with contextlib.suppress(Closed):
            message = self.line.receive()
            self.exit, self.max_rss, self.over = message["exit"], message["max_rss"], message["over"]

    def kill(self) -> None:
        """Has the keeper kill the whole tree; it reports when nothing is left."""
        if self.ended:
            return
        with contextlib.suppress(Closed):
            self.line.send({"kill": True})
        self._hear(KILL_S)

    def close(self) -> None:
        """Ends the sandbox if it lives, and frees every descriptor."""
        self.kill()
        for log in self.logs.values():
            while log.drain():
                pass
            log.close()
        self.control.close()
        self.line.close()
        os.close(self.fd)
