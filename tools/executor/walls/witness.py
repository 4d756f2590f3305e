"""What must be denied, tried from inside a sandbox of its own before any candidate is let in, and what must be allowed."""

import contextlib
import os
import resource
import select
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tools.executor.channel import Channel, Closed, Message
from tools.executor.sandbox import sandbox
from tools.executor.walls import keeper, syscalls
from tools.executor.walls.isolation import LEVELS, Walls

ORPHAN_S = 1.0
Found = dict[str, bool] | str
"""For each action whether it was denied, or why the walls cannot be had."""


def strongest(wanted: str, devices: list[str], plan: Message | None = None) -> tuple[Walls | None, dict[str, Found]]:
    """The walls to use (None where they cannot be had), and what was found for each level that was tried.

    `auto` never chooses `process`. Within a level root first tries to give up its uid, and a device to do without sockets;
    `plan` is for a session that must open behind the walls.
    """
    tried: dict[str, Found] = {}
    for level in LEVELS[:2] if wanted == "auto" else (wanted,):
        for walls in _variants(Walls(level, devices=tuple(devices))):
            tried[level] = found = probe(walls, plan)
            if isinstance(found, dict) and (level == "process" or all(found.values())):
                return walls, tried
    return None, tried


def _variants(walls: Walls) -> list[Walls]:
    if walls.level == "process":
        return [walls]
    drops = (True, False) if os.getuid() == 0 else (False,)
    return [replace(walls, drop=drop, strict=strict) for drop in drops for strict in ((True, False) if walls.devices else (True,))]


def probe(walls: Walls, plan: Message | None = None) -> Found:
    """Tries walls out with a sandbox that only does what must work and what must be denied."""
    line, line_end = Channel.pair()
    control, control_end = Channel.pair()
    null = os.open(os.devnull, os.O_WRONLY)
    with _outside() as outside:
        witness = outside | {"open": plan is not None and plan["mode"] == "device"}
        request = {"plan": plan or {"mode": "device"}, "witness": witness}
        pid = keeper.launch(request, [line_end.fileno(), control_end.fileno(), null, null, null], walls)
        for end in (line_end, control_end):
            end.close()
        try:
            return _outcome(control, pid)
        finally:
            line.close()
            control.close()
            os.close(null)


def _outcome(control: Channel, pid: int) -> Found:
    try:
        answer = control.receive()
    except Closed:
        answer = {"broken": "the sandbox ended before it said why"}
    os.waitpid(pid, 0)
    if "witness" not in answer:
        return str(answer.get("broken"))
    # The orphan holds the other end for as long as it lives.
    return answer["witness"] | {"orphan": bool(select.select([control], [], [], ORPHAN_S)[0])}


@contextlib.contextmanager
def _outside() -> Iterator[dict[str, Any]]:
    """Things outside that a sandbox may try to reach: sockets of three kinds, a file, a process."""
    with (
        tempfile.TemporaryDirectory(prefix="kernelwright-probe-") as folder,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as unix,
        _bystander() as process,
    ):
        file, path = Path(folder) / "file", Path(folder) / "socket"
        file.write_text("secret")
        udp.bind(("127.0.0.1", 0))
        unix.bind(str(path))
        unix.listen()
        # Only the walls are to be in the way.
        for open_to_all in (Path(folder), path):
            open_to_all.chmod(0o777)
        yield {"tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1], "unix": str(path), "file": str(file), "process": process}


@contextlib.contextmanager
def _bystander() -> Iterator[int]:
    """A process like the judge, which may be harmed."""
    pid = os.fork()
    if pid == 0:
        os.closerange(0, 1 << 20)
        signal.pause()
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def testify(request: Message, box: Path) -> Message:
    """Runs in the trial sandbox: an error where something does not work that must, or what was denied."""
    try:
        Path(os.__file__).read_bytes()
        (box / "note").write_text("note")
        if request["witness"]["open"]:
            with sandbox.open_session(request["plan"]) as session:
                session.to_host(session.to_device(sandbox.torch.ones(1)) + 1)
    except BaseException as error:
        return {"broken": f"what must be allowed is not: {type(error).__name__}: {error}"[:500]}
    return {"witness": denials(**request["witness"])}


def denials(tcp: int, udp: int, unix: str, file: str, process: int, open: bool) -> dict[str, bool]:
    """Actions that must be denied; True where the action was indeed denied."""
    folder, proc = str(Path(file).parent), Path(f"/proc/{process}")
    actions: dict[str, Callable[[], object]] = {
        "write outside": lambda: os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY)),
        "read outside": lambda: Path(file).read_bytes(),
        "read our packages": lambda: Path(__file__).read_bytes(),
        "memory of others": lambda: (proc / "mem").open("rb").close(),
        "environment of others": lambda: (proc / "environ").read_bytes(),
        "ptrace": lambda: syscalls.attach(process),
        "signal outside": lambda: os.kill(process, 0),
        "tcp": lambda: socket.create_connection(("127.0.0.1", tcp), timeout=1).close(),
        "udp": lambda: _send(("127.0.0.1", udp)),
        "unix socket": lambda: _connect(unix),
        "new user namespace": lambda: _in_child(lambda: syscalls.unshare(syscalls.NEWUSER)),
        "fork bomb": _fork_beyond_limit,
    }
    _leave_orphan()
    return {name: _denied(action) for name, action in actions.items()}


def user_namespaces() -> bool:
    """Whether this user may make one."""
    return not _denied(lambda: _in_child(lambda: syscalls.unshare(syscalls.NEWUSER)))


def _denied(action: Callable[[], object]) -> bool:
    try:
        action()
    except OSError:
        return True
    return False


def _send(address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.sendto(b"x", address)


def _connect(path: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.connect(path)


def _in_child(action: Callable[[], object]) -> None:
    """Does it in a process of its own, which it may change."""
    pid = os.fork()
    if pid == 0:
        os._exit(_denied(action))
    if os.waitpid(pid, 0)[1]:
        raise PermissionError("denied")


def _fork_beyond_limit() -> None:
    """Whether the limit on processes has any force here: it has none for root."""
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    _in_child(lambda: None)


def _leave_orphan() -> None:
    """A process in a session of its own, which is to end with the sandbox. Whether it does is seen from outside."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(10 * ORPHAN_S)
        os._exit(0)
