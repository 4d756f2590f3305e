"""The keeper: one trusted process beside every sandbox, forked from the zygote before the candidate's code is anywhere.

It sets the walls up, forks the sandbox, tells the broker its pid and how it ended, and leaves nothing of it alive. When the
broker is gone, so is the sandbox.
"""

import contextlib
import itertools
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn, TextIO

from tools.executor import isolation, sandbox, syscalls
from tools.executor.channel import Channel, Closed, Message, readable

ADDRESS_SPACE = 6 << 30
"""Bytes of address space in simulated mode. A real device maps far more than it uses."""
FOREVER_S = 1e6


def keep(request: Message, fds: list[int]) -> NoReturn:
    """Runs in a fresh fork of the zygote. `fds`: broker's line to the keeper, sandbox's line, memory, stdout, stderr."""
    line = Channel.inherited(fds[0])
    os.setsid()
    syscalls.adopt_orphans()
    full = request["level"] == "full"
    box = None if full else Path(tempfile.mkdtemp(prefix="kernelwright-box-"))
    try:
        if full:
            isolation.enter_namespaces()
        pid = os.fork()
        if pid == 0:
            _sandbox(request, fds[1:], box)
        _close(fds[1:])
        with contextlib.suppress(Closed):
            line.send({"pid": pid})
        status, usage = _wait(line, pid)
        _sweep()
        with contextlib.suppress(Closed):
            line.send({"exit": os.waitstatus_to_exitcode(status), "max_rss": usage})
    except OSError as error:
        with contextlib.suppress(Closed):
            Channel.inherited(fds[1]).send({"broken": str(error)})
    finally:
        if box:
            shutil.rmtree(box, ignore_errors=True)
        os._exit(0)


def _wait(line: Channel, pid: int) -> tuple[int, int]:
    """Until the sandbox ends, or until the broker has hung up, which kills it. Returns wait status and max RSS in KiB."""
    watch = os.pidfd_open(pid)
    if watch not in readable([watch, line.fileno()], FOREVER_S):
        os.kill(pid, signal.SIGKILL)
    os.close(watch)
    _, status, usage = os.wait4(pid, 0)
    return status, usage.ru_maxrss


def _sweep() -> None:
    """Kills what outlived the sandbox. In a pid namespace nothing does."""
    while True:
        try:
            children = Path("/proc/thread-self/children").read_text().split()
            for child in children:
                os.kill(int(child), signal.SIGKILL)
            os.waitpid(-1, 0)
        except (ChildProcessError, ProcessLookupError):
            return
        except OSError:
            return


def _close(fds: Iterable[int]) -> None:
    for fd in set(fds):
        os.close(fd)


def _sandbox(request: Message, fds: list[int], box: Path | None) -> NoReturn:
    channel = Channel.inherited(fds[0])
    try:
        syscalls.die_with_parent()
        box = isolation.mount_private() if box is None else box
        isolation.private_environment(box)
        tempfile.tempdir = os.environ["TMPDIR"]
        _standard_streams(*fds[2:4])
        _only(fds[:2])
        isolation.limit(ADDRESS_SPACE if request["plan"]["mode"] == "simulated" else None)
        if request["level"] != "process":
            isolation.restrict(box, request["devices"], request["level"] == "full")
        _forget_ourselves()
    except BaseException as error:
        channel.send({"broken": f"{type(error).__name__}: {error}"[:500]})
        os._exit(3)
    if "witness" in request:
        channel.send({"witness": isolation.witness(**request["witness"])})
        os._exit(0)
    try:
        sandbox.run(channel, fds[1], request["memory"], request["plan"], box)
    finally:
        os._exit(4)


def _standard_streams(out: int, err: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    for fd, number in ((null, 0), (out, 1), (err, 2)):
        os.dup2(fd, number)
    # Those of the zygote are set up for the file that it writes to.
    sys.stdout, sys.stderr = (_text_stream(fd) for fd in (1, 2))


def _text_stream(fd: int) -> TextIO:
    return os.fdopen(fd, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


def _only(kept: list[int]) -> None:
    """Closes every descriptor but the standard streams and those that are kept."""
    for low, high in itertools.pairwise([2, *sorted(kept), 1 << 16]):
        os.closerange(low + 1, high)


def _forget_ourselves() -> None:
    """The packages that a candidate must not import: what is loaded of them goes, and so does their place on the path."""
    root = str(Path(__file__).resolve().parents[2])
    sys.path[:] = [p for p in sys.path if (p and str(Path(p).resolve()) != root) or "site-packages" in p]
    for name in [n for n in sys.modules if n.partition(".")[0] == "benchmark"]:
        del sys.modules[name]


def strongest(wanted: str, devices: list[str]) -> tuple[str | None, dict[str, Any]]:
    """The level to use (None where it cannot be had), and for each level that was tried what was denied or why it failed.

    `auto` never chooses `process`.
    """
    tried: dict[str, Any] = {}
    with socket.create_server(("127.0.0.1", 0)) as server:
        for level in isolation.LEVELS[:2] if wanted == "auto" else (wanted,):
            tried[level] = found = probe(level, devices, server.getsockname()[1])
            if isinstance(found, dict) and (level == "process" or all(found.values())):
                return level, tried
    return None, tried


def probe(level: str, devices: list[str], port: int) -> dict[str, bool] | str:
    """Tries a level out with a sandbox that only does what must be denied: what was denied, or why the level cannot be had."""
    line, line_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control, control_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    null = os.open(os.devnull, os.O_WRONLY)
    request = {
        "level": level, "devices": devices, "plan": {"mode": "device"},
        "witness": {"port": port, "outsider": os.getpid(), "outside": tempfile.gettempdir()},
    }  # fmt: skip
    pid = os.fork()
    if pid == 0:
        keep(request, [line_end.fileno(), control_end.fileno(), null, null, null])
    line_end.close()
    control_end.close()
    try:
        answer = Channel(control).receive()
        return answer.get("witness") or str(answer.get("broken"))
    except Closed:
        return "the namespaces cannot be entered"
    finally:
        os.waitpid(pid, 0)
        line.close()
        control.close()
        os.close(null)
