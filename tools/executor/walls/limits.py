"""Bounds on what a sandbox uses: the kernel's limits for each process, and the keeper's watch over all of them together."""

import contextlib
import os
import resource
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ADDRESS_SPACE = 6 << 30
"""Bytes of address space per process in simulated mode. A real device maps far more than it uses."""
MEMORY = {"simulated": 6 << 30, "device": 48 << 30}
"""Bytes that all processes of a sandbox may hold together, the shared memory with the judge included."""
DISK = 1 << 30
"""Bytes in the box where it lies on a disk, which has no size of its own."""
PROCESSES = 128
"""Processes and threads."""
LIMITS = {resource.RLIMIT_CPU: 900, resource.RLIMIT_FSIZE: 1 << 30, resource.RLIMIT_NOFILE: 1024, resource.RLIMIT_MSGQUEUE: 0}
NO_CORE = 1
"""Bytes of a core file. Unlike 0, this keeps the kernel from handing the process to a crash handler, too."""


def set_limits(address_space: int | None, processes: int) -> None:
    for kind, value in (LIMITS | {resource.RLIMIT_CORE: NO_CORE, resource.RLIMIT_NPROC: processes}).items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
    if address_space:
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))


def first_to_go() -> None:
    """When the machine runs out of memory, the kernel takes this process and its children first."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def go_before(others: int) -> None:
    """Asks for a priority above that of `others`, or below it where negative; only root is given more than it has."""
    with contextlib.suppress(OSError):
        os.nice(-others)


def tasks_of(uid: int) -> int:
    """Processes and threads of a user on this machine: the kernel counts them all against a limit set without a user namespace."""
    total = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            total += len(list((process / "task").iterdir())) if process.stat().st_uid == uid else 0
    return total


def below(pid: int) -> Iterator[int]:
    """The processes below `pid`, zombies included."""
    try:
        threads = Path(f"/proc/{pid}/task").iterdir()
        children = [child for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return
    for child in map(int, children):
        yield child
        yield from below(child)


@dataclass
class Meter:
    """What the processes below the keeper use together. `over` names what is used too much of, or is None."""

    memory: int
    disk: Path | None

    def over(self, wanted: Callable[[], bool] = lambda: False) -> str | None:
        """Gives up as soon as the caller is `wanted` elsewhere: among a hundred busy processes this takes a while."""
        pids = list(below(os.getpid()))
        # Memory shared with the zygote counts in full here, which is cheap to see; only beyond the bound it is shared out.
        if sum(map(_held, pids)) > self.memory:
            total = 0
            for pid in pids:
                total += _share(pid)
                if total > self.memory:
                    return "memory"
                if wanted():
                    return None
        if self.disk and _size(self.disk) + sum(map(_unlinked, pids)) > DISK:
            return "disk"
        return None


def _held(pid: int) -> int:
    return _bytes(Path(f"/proc/{pid}/status"), {"RssAnon", "RssShmem", "VmSwap"})


def _share(pid: int) -> int:
    return _bytes(Path(f"/proc/{pid}/smaps_rollup"), {"Pss_Anon", "Pss_Shmem", "SwapPss"})


def _bytes(path: Path, names: set[str]) -> int:
    """The sum of lines like `RssAnon:  12 kB`."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in lines if line.partition(":")[0] in names)


def _size(folder: Path) -> int:
    """Bytes on disk; what comes and goes meanwhile counts or does not."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(f"{path}/{name}").st_blocks * 512
    return total


def _unlinked(pid: int) -> int:
    """Bytes of files that a process holds open and that no name leads to."""
    total = 0
    with contextlib.suppress(OSError):
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            found = fd.stat()
            total += found.st_blocks * 512 if stat.S_ISREG(found.st_mode) and not found.st_nlink else 0
    return total
