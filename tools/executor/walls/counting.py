"""Runs a candidate that has passed under the vendor's profiler, behind walls of its own. Started by the broker with `-m`, once per use.

The profiler must be the parent of the process that it looks at and talks to it over TCP, so neither can be forked from the zygote:
this process makes inputs, forks, and puts profiler and candidate together into fresh namespaces (`full`), whose loopback is their own.
What comes back is self-reported.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import torch

from benchmark import suites
from tools import platforms
from tools.executor.arguments import bind, tensors_in
from tools.executor.channel import Channel, Message
from tools.executor.walls import isolation, limits, syscalls
from tools.executor.walls.isolation import Walls
from tools.executor.wire import ALIGN, Region
from tools.profile import digest

LOG = "counters.csv"

Profiler = Callable[[Path, tuple[str, ...]], list[str]]
"""The command for a box and metrics; its log goes to the file `LOG` in the box."""


def main(fd: int) -> None:
    syscalls.die_with_parent()
    # Namespaces are for processes of one thread.
    torch.set_num_threads(1)
    channel = Channel.inherited(fd)
    request = channel.receive()
    with open(channel.fds.pop(), "rb") as file:
        candidate = file.read()
    channel.send(answer(request, candidate))


def answer(request: Message, candidate: bytes) -> Message:
    """`launches` as in `tools.profile.digest`, or `error`."""
    walls = Walls("full", drop=request["drop"], devices=tuple(request["devices"]))
    files = _files(request) | {"candidate.py": candidate}
    try:
        text = walled(walls, files, request["seconds"], _command)
    except OSError as error:
        return {"error": f"the profiler's walls could not be made: {error}"[:300]}
    try:
        return {"case": request["case"], "self_reported": True} | digest(platforms.ncu.parse(text))
    except ValueError as error:
        return {"error": str(error)[:300]}


def _files(request: Message) -> dict[str, bytes]:
    """What the program that calls the candidate reads."""
    task = suites.find(request["task"])
    arguments = task.case(request["case"]).arguments(task.id, request["seed"])
    memory = torch.zeros(sum(t.untyped_storage().nbytes() + ALIGN for t in tensors_in(arguments)), dtype=torch.uint8)
    region = Region(memory)
    positional, keywords = bind(task, arguments)
    call = {
        "entry": task.entry_name, "gpu": request["gpu"], "args": [region.write(v) for v in positional.values()],
        "kwargs": {name: region.write(v) for name, v in keywords.items()},
    }  # fmt: skip
    inputs = memory[: region.used].numpy().tobytes()
    return {"call.json": json.dumps(call).encode(), "inputs.bin": inputs, "target.py": platforms.ncu.TARGET.read_bytes()}


def walled(walls: Walls, files: dict[str, bytes], seconds: float, profiler: Profiler) -> str:
    """The profiler's log of a run on `files` behind the walls; what it has said so far when the time is up. Raises `OSError`."""
    isolation.survey()
    reader, writer = os.pipe()
    asked, mapped = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            _inside(walls, files, profiler, writer, asked[1], mapped[0])
        finally:
            os._exit(1)
    for end in (writer, asked[1], mapped[0]):
        os.close(end)
    try:
        if os.read(asked[0], 1):
            isolation.map_identity(pid, walls.identity(pid))
            os.write(mapped[1], b"m")
        return _until_end(reader, seconds)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        for end in (reader, asked[0], mapped[1]):
            os.close(end)


def _until_end(reader: int, seconds: float) -> str:
    kept = b""
    while select.select([reader], [], [], seconds)[0]:
        data = os.read(reader, 1 << 16)
        if not data:
            return kept.decode("utf-8", "replace")
        kept += data
    return f"==ERROR== no end within {seconds:.0f} s\n"


def _inside(walls: Walls, files: dict[str, bytes], profiler: Profiler, writer: int, asked: int, mapped: int) -> NoReturn:
    """The keeper of the profiler's namespaces. Errors are told in the profiler's manner."""
    syscalls.die_with_parent()
    identity = walls.identity(os.getpid())
    try:
        isolation.enter_namespaces()
        os.write(asked, b"n")
        os.read(mapped, 1)
        pid = os.fork()
        if pid == 0:
            _profile(walls, identity, files, profiler, writer)
        os.close(writer)
        os.waitpid(pid, 0)
    except OSError as error:
        os.write(writer, f"==ERROR== {error}\n".encode())
    os._exit(0)


def _profile(walls: Walls, identity: tuple[int, int], files: dict[str, bytes], profiler: Profiler, writer: int) -> NoReturn:
    """The first process of the new namespaces: runs the profiler and passes its log on."""
    try:
        syscalls.raise_loopback()
        box = isolation.mount_private(identity)
        syscalls.die_with_parent()
        syscalls.hide_memory()
        isolation.private_environment(box)
        for name, data in files.items():
            (box / name).write_bytes(data)
        files.clear()
        limits.set_limits(None, limits.PROCESSES)
        isolation.restrict(walls, box, own_network=True)
        text = _run(box, profiler(box, platforms.ncu.METRICS))
        if missing := platforms.ncu.unknown(text):
            text = _run(box, profiler(box, tuple(metric for metric in platforms.ncu.METRICS if metric not in missing)))
        _send(writer, text.encode())
    except OSError as error:
        _send(writer, f"==ERROR== {error}\n".encode())
    finally:
        os._exit(0)


def _command(box: Path, metrics: tuple[str, ...]) -> list[str]:
    program = platforms.ncu.path()
    assert program is not None
    return platforms.ncu.command(program, str(box / LOG), [sys.executable, "-P", str(box / "target.py"), str(box)], metrics)


def _run(box: Path, command: list[str]) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"LC_ALL": "C"}
    done = subprocess.run(command, cwd=box, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    log = box / LOG
    said = log.read_text(errors="replace") if log.exists() else ""
    return said if done.returncode == 0 else f"{said}\n==ERROR== {_last(done.stderr) or _last(done.stdout) or 'the profiler failed'}\n"


def _last(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def _send(writer: int, data: bytes) -> None:
    while data:
        data = data[os.write(writer, data) :]


if __name__ == "__main__":
    main(int(sys.argv[1]))
