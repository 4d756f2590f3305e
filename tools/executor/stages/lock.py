"""One timing at a time on a GPU and nothing beside it, over all processes of this machine."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from tools.executor.channel import readable
from tools.executor.remote import Cancelled
from tools.executor.stages.verdicts import Stop
from tools.executor.worker import Worker

FOLDER = Path("/tmp")
"""Not the user's own temporary folder: whoever uses the GPU must find the same file."""
WAIT_S = 1800.0


@contextlib.contextmanager
def gpu_lock(index: int, worker: Worker, shared: bool = False, seconds: float = WAIT_S) -> Iterator[None]:
    """Holds the GPU, alone or `shared`, by its UUID, for an index means another GPU to each who sees but some of them.

    While anyone waits for the GPU alone or has it so, the gate is closed to those who would share it: timings come one after another,
    and the calls that run are waited for once. Raises `Stop` (`infra_error`) when the time is up.
    """
    uuids = worker.device.get("uuids", [])
    name = uuids[index] if index < len(uuids) and uuids[index] else str(index)
    deadline = time.monotonic() + seconds
    with _opened(f"kernelwright-gpu-{name}.lock") as gpu, _opened(f"kernelwright-gpu-{name}.gate") as gate:
        _lock(gate, fcntl.LOCK_EX if shared else fcntl.LOCK_SH, worker, deadline, gpu)
        _lock(gpu, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, worker, deadline, gpu)
        if shared:
            fcntl.flock(gate, fcntl.LOCK_UN)
        else:
            _sign(gpu)
        yield


@contextlib.contextmanager
def _opened(name: str) -> Iterator[int]:
    """A file that all users may lock; where it is another's and cannot be written, it is only locked."""
    path, flags = FOLDER / name, os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        # Not created where it is there: in a shared folder the kernel refuses that for another user's file.
        fd = os.open(path, os.O_RDWR | flags)
    except FileNotFoundError:
        before = os.umask(0)
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o666)
        finally:
            os.umask(before)
    except PermissionError:
        fd = os.open(path, os.O_RDONLY | flags)
    try:
        yield fd
    finally:
        os.close(fd)


def _lock(fd: int, kind: int, worker: Worker, deadline: float, signed: int) -> None:
    while True:
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if readable([worker.cancelled], 0.01):
                raise Cancelled from None
            if time.monotonic() > deadline:
                raise Stop("infra_error", f"the GPU was not to be had in time; last held by process {_owner(signed)}") from None


def _sign(fd: int) -> None:
    """Says who holds it, for whoever waits."""
    with contextlib.suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, str(os.getpid()).encode(), 0)


def _owner(fd: int) -> str:
    return os.pread(fd, 20, 0).decode("ascii", "replace") or "unknown"
