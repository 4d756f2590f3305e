"""The layers between a candidate and the machine (DESIGN 4.3), and the order in which a sandbox puts them on.

`full`: user, pid, net, ipc and mount namespaces, read-only root, Landlock, seccomp, limits. `landlock`: Landlock, seccomp and
limits; orphans swept. `process`: limits only, on request. Root gives its uid up for one that owns nothing, for which the kernel's
limit on processes holds too.
"""

import functools
import os
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.executor.walls import seccomp, syscalls

LEVELS = ("full", "landlock", "process")
NAMESPACES = ("user namespace", "pid namespace", "network namespace", "ipc namespace", "mount namespace", "read-only root")
PRIVATE = Path("/dev/shm")
"""Where `full` mounts the sandbox's own tmpfs: a directory that is everywhere and holds no program."""
BOX_BYTES, BOX_FILES = 512 << 20, 1 << 14
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/sys", "/nix", "/run/opengl-driver")
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd", "group", "nsswitch.conf", "localtime", "alternatives")
PROC = ("cpuinfo", "meminfo", "stat", "version", "uptime", "loadavg", "filesystems", "devices", "modules", "driver", "sys")
"""What may be read of a /proc that shows other processes too, beside the sandbox's own part of it."""
PROC_GUARDED = ("sys", "sysrq-trigger", "irq", "bus", "fs")
"""Parts of /proc that root can write even from a user namespace when it is mapped to itself."""
OURS = ("agents", "scaffolds", "tools", "benchmark", "prompts", "experiments", "tests")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
FIRST_UID, UIDS = 65000, 500
"""Outside uids for sandboxes of a root broker: no distribution gives these to anybody."""


@dataclass(frozen=True)
class Walls:
    """What a sandbox is put behind. `strict`: no sockets and no memory files; `drop`: root gives up its uid."""

    level: str
    strict: bool = True
    drop: bool = False
    devices: tuple[str, ...] = ()

    def layers(self) -> list[str]:
        found = list(NAMESPACES) if self.level == "full" else []
        if self.level != "process":
            found += [f"landlock ABI {syscalls.landlock_abi()}", "seccomp" if self.strict else "seccomp (own sockets allowed)"]
        if self.level == "landlock":
            found.append("sweep of orphans")
        return [*found, *(["uid drop"] if self.drop else []), "resource limits", "memory watch"]

    def identity(self, pid: int) -> tuple[int, int]:
        """Outside uid and gid of the sandbox of the keeper `pid`."""
        return (FIRST_UID + pid % UIDS,) * 2 if self.drop else (os.getuid(), os.getgid())


def survey() -> None:
    """Finds out, once and as the user that we are, where Python and the system lie. Later there is less to be seen."""
    _unreachable()
    readable()


def enter_namespaces() -> None:
    """Called by the keeper while it has one thread; the next fork is the first process of the new pid namespace.

    The keeper stays with the mounts that are: it has to see all processes in /proc.
    """
    if os.getuid() == 0:
        os.setgroups([])
    syscalls.unshare(syscalls.NEWUSER | syscalls.NEWPID | syscalls.NEWNET | syscalls.NEWIPC | syscalls.NEWUTS)


def map_identity(pid: int, identity: tuple[int, int]) -> None:
    """Lets the user namespace of `pid` have one user. Called from outside: from within only the own uid could be had."""
    uid, gid = identity
    proc = Path(f"/proc/{pid}")
    (proc / "setgroups").write_text("deny")
    (proc / "gid_map").write_text(f"{gid} {gid} 1")
    (proc / "uid_map").write_text(f"{uid} {uid} 1")


def take_identity(identity: tuple[int, int]) -> None:
    """For good. The capabilities stay, for the mounts."""
    uid, gid = identity
    syscalls.keep_capabilities()
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    syscalls.own_proc()


def drop_identity(identity: tuple[int, int]) -> None:
    """Without namespaces. Where Python lies in a directory that is closed to others, searching those is still allowed."""
    os.setgroups([])
    take_identity(identity)
    syscalls.drop_capabilities(syscalls.SEARCH if _unreachable() else 0)


def mount_private(identity: tuple[int, int]) -> Path:
    """A read-only root with a private tmpfs and /proc; returns the sandbox's directory. Called in the new pid namespace."""
    syscalls.unshare(syscalls.NEWNS)
    syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    copies = {path: syscalls.copy_mount(str(path)) for path in _unreachable()}
    take_identity(identity)
    _uncover(copies)
    syscalls.remount_read_only("/")
    size = f"size={BOX_BYTES},nr_inodes={BOX_FILES},mode=700"
    syscalls.mount("tmpfs", str(PRIVATE), "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NODEV, size)
    syscalls.mount("proc", "/proc", "proc", syscalls.MS_NOSUID | syscalls.MS_NODEV)
    for name in PROC_GUARDED:
        path = f"/proc/{name}"
        if Path(path).exists():
            syscalls.mount(path, path, None, syscalls.MS_BIND | syscalls.MS_REC)
            syscalls.remount_read_only(path)
    syscalls.drop_capabilities()
    box = PRIVATE / "box"
    box.mkdir()
    return box


@functools.cache
def _unreachable() -> list[Path]:
    """Python's directories that only root can get to, for example because its home is closed to others."""
    roots = {path.resolve() for path in _python()} if os.getuid() == 0 else set()
    closed = {root for root in roots if _closed_parent(root)}
    return sorted(root for root in closed if not closed & set(root.parents))


def _closed_parent(path: Path) -> Path | None:
    return next((parent for parent in reversed(path.parents) if not parent.stat().st_mode & 0o001), None)


def _uncover(copies: dict[Path, int]) -> None:
    """Replaces each closed directory by an empty one in which only the copies are."""
    for parent in {_closed_parent(path) for path in copies}:
        syscalls.mount("tmpfs", str(parent), "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NODEV, "size=1m,mode=755")
    for path, copy in copies.items():
        path.mkdir(parents=True)
        syscalls.place_mount(copy, str(path))
        os.close(copy)


def restrict(walls: Walls, box: Path, own_network: bool = False) -> None:
    """Landlock and seccomp: reads from the system and Python only, none of our own packages, writes to the box.

    A device's driver writes to the process's own /proc (it names its threads). With `own_network` (`full` only) there is no seccomp, and
    TCP is allowed: for programs that talk to each other over the loopback of their namespace.
    """
    private = walls.level == "full"
    grants = [*readable(), *([] if private else ((Path("/proc") / name, syscalls.READ) for name in PROC))]
    writable = [box, *(Path("/dev") / d for d in DEVICES), *(Path(d) for d in walls.devices)]
    writable += [Path("/proc"), PRIVATE] if private else [Path(f"/proc/{os.getpid()}")]
    syscalls.landlock(grants, writable, tcp=own_network)
    if not own_network:
        seccomp.install(walls.strict, shared=not private)


@functools.cache
def readable() -> tuple[tuple[Path, int], ...]:
    """What Landlock lets be read or listed."""
    hidden = _hidden()
    roots = {Path(p) for p in (*SYSTEM, *(f"/etc/{e}" for e in ETC))} | set(_python())
    return (*(g for root in sorted(roots) for g in _readable(root, hidden)), (Path("/dev"), syscalls.LIST))


def _python() -> list[Path]:
    return [Path(p) for p in (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()) if Path(p).exists()]


def _hidden() -> list[Path]:
    """Our packages, or all of a checkout, and the directory that the broker works in, where runs are written."""
    root, here = Path(__file__).resolve().parents[3], Path.cwd()
    ours = [root] if (root / "pyproject.toml").exists() else [root / name for name in OURS]
    holds_system = any(here in (path, *path.parents) for path in (*map(Path, SYSTEM), *_python()))
    return [path for path in (*ours, *([] if holds_system else [here])) if path.exists()]


def _readable(root: Path, hidden: list[Path]) -> Iterator[tuple[Path, int]]:
    """Grants that let all of `root` be read but the hidden directories (whose names may be listed)."""
    root = root.resolve()
    if root in hidden or not root.exists():
        return
    if not any(root in h.parents for h in hidden):
        yield root, syscalls.READ
        return
    yield root, syscalls.LIST
    for child in root.iterdir():
        yield from _readable(child, hidden)


def private_environment(box: Path) -> None:
    """Everything that is written by habit goes to the box."""
    places = {"HOME": box, "TMPDIR": box / "tmp", "TRITON_CACHE_DIR": box / "triton", "TRITON_HOME": box, "XDG_CACHE_HOME": box / "cache"}
    for name, path in places.items():
        path.mkdir(exist_ok=True)
        os.environ[name] = str(path)
    os.chdir(box)
