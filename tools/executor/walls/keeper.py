"""The keeper: one trusted process beside every sandbox, forked from the zygote before the candidate's code is anywhere.

It sets the walls up, forks the sandbox, watches what it uses, tells the broker how it ended, and leaves nothing of it alive. When
the broker is gone, so is the sandbox.
"""

import contextlib
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import NoReturn, TextIO

from tools.executor.channel import Channel, Closed, Message, readable
from tools.executor.sandbox import sandbox
from tools.executor.walls import isolation, limits, syscalls, witness
from tools.executor.walls.isolation import Walls

TICK_S = 0.05
"""Between two looks at what the sandbox uses."""
SWEEP_S = 5.0
AHEAD = 10
"""Steps of priority by which the keeper is before what it keeps, where it is root: a hundred busy processes must not hold it up."""


def launch(request: Message, fds: list[int], walls: Walls) -> int:
    """Forks a keeper, which answers on the first of `fds`; returns its pid.

    `fds`: broker's line to the keeper, sandbox's line, memory, stdout, stderr. It is for the parent to say which user a
    new user namespace has.
    """
    isolation.survey()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    pid = os.fork()
    if pid == 0:
        try:
            keep(request, fds, walls, theirs)
        finally:
            os._exit(1)
    theirs.close()
    with ours:
        if ours.recv(1):
            isolation.map_identity(pid, walls.identity(pid))
            ours.send(b"m")
    return pid


def keep(request: Message, fds: list[int], walls: Walls, parent: socket.socket) -> NoReturn:
    """Runs in a fresh fork of the zygote until the sandbox has ended."""
    _only([0, 1, 2, *fds, parent.fileno()])
    line = Channel.inherited(fds[0])
    os.setsid()
    syscalls.adopt_orphans()
    limits.go_before(AHEAD if os.getuid() == 0 else 0)
    identity = walls.identity(os.getpid())
    box = None if walls.level == "full" else Path(tempfile.mkdtemp(prefix="kernelwright-box-"))
    try:
        if box is None:
            isolation.enter_namespaces()
            parent.send(b"n")
            parent.recv(1)
        elif walls.drop:
            os.chown(box, *identity)
        parent.close()
        pid = os.fork()
        if pid == 0:
            _sandbox(request, fds[1:], walls, identity, box)
        _only([0, 1, 2, fds[0]])
        status, usage, over = _wait(line, pid, limits.Meter(limits.MEMORY[request["plan"]["mode"]], box))
        _sweep()
        with contextlib.suppress(Closed):
            line.send({"exit": os.waitstatus_to_exitcode(status), "max_rss": usage, "over": over})
    except OSError as error:
        with contextlib.suppress(Closed):
            Channel.inherited(fds[1]).send({"broken": str(error)})
    finally:
        if box:
            shutil.rmtree(box, ignore_errors=True)
        os._exit(0)


def _wait(line: Channel, pid: int, meter: limits.Meter) -> tuple[int, int, str | None]:
    """Until the sandbox ends, uses too much or is to be killed, which the broker says by a word or by hanging up.

    Returns wait status, max RSS in KiB, and what was used too much of.
    """
    watch, over = os.pidfd_open(pid), None
    while not (ready := readable([watch, line.fileno()], TICK_S)) and not over:
        over = meter.over(lambda: bool(readable([watch, line.fileno()], 0)))
    if watch not in ready:
        os.kill(pid, signal.SIGKILL)
    os.close(watch)
    _, status, usage = os.wait4(pid, 0)
    return status, usage.ru_maxrss, over


def _sweep() -> None:
    """Kills what outlived the sandbox. In a pid namespace nothing does.

    The dead are left unburied until all are dead: they still count as processes, so that a fork bomb runs against its limit.
    """
    deadline = time.monotonic() + SWEEP_S
    while (alive := [pid for pid in limits.below(os.getpid()) if _alive(pid)]) and time.monotonic() < deadline:
        for pid in alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, 0 if time.monotonic() < deadline else os.WNOHANG)[0]:
            pass


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _sandbox(request: Message, fds: list[int], walls: Walls, identity: tuple[int, int], box: Path | None) -> NoReturn:
    channel = Channel.inherited(fds[0])
    plan = request["plan"]
    try:
        os.setsid()
        limits.go_before(-AHEAD if os.getuid() == 0 or walls.drop else 0)
        limits.first_to_go()
        processes = _processes(walls)
        if box is None:
            box = isolation.mount_private(identity)
        elif walls.drop:
            isolation.drop_identity(identity)
        elif walls.level != "process":
            syscalls.drop_capabilities()
        syscalls.die_with_parent()
        isolation.private_environment(box)
        tempfile.tempdir = os.environ["TMPDIR"]
        _standard_streams(*fds[2:4])
        _only([0, 1, 2, *fds[:2]])
        limits.set_limits(limits.ADDRESS_SPACE if plan["mode"] == "simulated" else None, processes)
        if walls.level != "process":
            isolation.restrict(walls, box)
        if "witness" in request:
            channel.send(witness.testify(request, box))
            os._exit(0)
        # A child of the candidate must not answer in its place by accident.
        os.register_at_fork(after_in_child=channel.close)
    except BaseException as error:
        channel.send({"broken": f"{type(error).__name__}: {error}"[:500]})
        os._exit(3)
    try:
        sandbox.run(channel, fds[1], request["memory"], plan, box)
    finally:
        os._exit(4)


def _processes(walls: Walls) -> int:
    """The kernel counts by user: in a user namespace and for a uid of its own only what is the sandbox's."""
    others = 0 if walls.level == "full" or walls.drop else limits.tasks_of(os.getuid())
    return limits.PROCESSES + others


def _standard_streams(out: int, err: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    for fd, number in ((null, 0), (out, 1), (err, 2)):
        os.dup2(fd, number)
    # Those of the zygote are set up for the file that it writes to.
    sys.stdout, sys.stderr = (_text_stream(fd) for fd in (1, 2))


def _text_stream(fd: int) -> TextIO:
    return os.fdopen(fd, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


def _only(kept: list[int]) -> None:
    """Closes every descriptor but these."""
    first = 0
    for fd in [*sorted(set(kept)), 1 << 20]:
        if first < fd:
            os.closerange(first, fd)
        first = fd + 1
