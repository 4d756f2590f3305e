"""The broker's hold on a reference sandbox: gives it a foreign task's files, has it describe the task, and hands it to the judge."""

import json
import os
import time
from typing import Any

from benchmark.importers import described as descriptions
from benchmark.origin import Origin, packed
from benchmark.task import Task
from tools.executor.channel import Malformed, Message, enclosed
from tools.executor.remote import Died, Hung, RemoteSandbox

OPEN_S = 30.0
READ_S = 30.0
"""For importing the file."""
DESCRIBE_S = 120.0
"""For trying it out."""
MOST_BYTES = 4 << 20
"""Of a description."""
AGE_S = 600.0
"""So long one is used: the kernel bounds the CPU time of its life."""


class Misread(Exception):
    """Why a foreign task cannot be had, in a sentence."""


class RemoteReference:
    """A reference sandbox that has read a task's files, ready for the judge, who alone speaks with it from then on."""

    def __init__(self, sandbox: RemoteSandbox, task: Task):
        assert task.origin is not None
        self.sandbox, self.plan, self.made = sandbox, sandbox.plan, time.monotonic()
        self.key = (task.id, task.sha)
        _read(sandbox, task.origin)
        about = {name: getattr(task.origin, name) for name in ("kind", "path", "named", "entry", "options", "digest", "description")}
        data = json.dumps(about).encode()
        self.about = os.memfd_create("task")
        os.write(self.about, data)
        self.message = {"memory": sandbox.memory, "bytes": len(data), "serial": os.urandom(8).hex()}

    @property
    def fds(self) -> tuple[int, ...]:
        """What the task is, the line to the sandbox, and the memory that is shared with it."""
        return self.about, self.sandbox.control.fileno(), self.sandbox.fd

    def fits(self, task: Task, plan: Message) -> bool:
        return self.key == (task.id, task.sha) and self.plan == plan and time.monotonic() - self.made < AGE_S and self.sandbox.alive

    def close(self) -> None:
        self.sandbox.close()
        os.close(self.about)


def described(sandbox: RemoteSandbox, origin: Origin) -> Origin:
    """The origin with its description, which is checked by making the task of it. Raises `Misread`."""
    _read(sandbox, origin)
    with enclosed(b"") as fd:
        _ask(sandbox, {"op": "describe"}, DESCRIBE_S, origin, fd)
        data = os.pread(fd, MOST_BYTES + 1, 0)
    try:
        found = Origin(**{**vars(origin), "description": _parsed(data)})
        descriptions.task("", found)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise Misread(f"{origin.named} was described in a way that makes no sense ({type(error).__name__}): its code interferes.") from None
    return found


def _parsed(data: bytes) -> dict[str, Any]:
    if len(data) > MOST_BYTES:
        raise ValueError("too long")
    found = json.loads(data)
    if not isinstance(found, dict):
        raise TypeError("no object")
    return found


def _read(sandbox: RemoteSandbox, origin: Origin) -> None:
    hello = sandbox.wait(OPEN_S)
    if "ready" not in hello:
        raise Misread(f"no reference sandbox could be set up: {hello.get('broken') or hello.get('unmapped')}")
    request = {name: getattr(origin, name) for name in ("kind", "path", "named", "entry", "options")}
    request |= {"op": "read", "search": list(origin.search), "mutates": origin.description.get("mutates", [])}
    with enclosed(packed(origin.files)) as fd:
        _ask(sandbox, request, READ_S, origin, fd)


def _ask(sandbox: RemoteSandbox, request: Message, seconds: float, origin: Origin, fd: int) -> Message:
    try:
        answer = sandbox.ask(request, seconds, seconds, (fd,))
    except Hung:
        raise Misread(
            f"{origin.named} is not done in {seconds:.0f} s when it is imported and tried out: make its inputs smaller."
        ) from None
    except Died as death:
        how = f"it used more {death.over} than it may" if death.over else "its process ended"
        raise Misread(f"{origin.named} could not be tried out: {how}; make its inputs smaller, and let it end no process.") from None
    except Malformed:
        raise Misread(f"{origin.named} writes to the executor's own channel.") from None
    if sentence := answer.get("user_error"):
        raise Misread(str(sentence)[:1000])
    if error := answer.get("error"):
        message = error.get("message") if isinstance(error, dict) else error
        raise Misread(f"{origin.named} could not be tried out: {str(message)[:400]}.")
    return answer
