"""The layers between a candidate and the machine, from the strongest level that works (DESIGN 4.3).

`full`: user, pid, net, ipc and mount namespaces, read-only root, Landlock, limits. `landlock`: Landlock and limits, orphans swept.
`process`: limits only, on request.
"""

import os
import resource
import socket
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.executor import syscalls

LEVELS = ("full", "landlock", "process")
NAMESPACES = ("user namespace", "pid namespace", "network namespace", "ipc namespace", "mount namespace", "read-only root")
LAYERS = {
    "full": (*NAMESPACES, "landlock", "resource limits"),
    "landlock": ("landlock", "resource limits"),
    "process": ("resource limits",),
}
PRIVATE = Path("/dev/shm")
"""Where `full` mounts the sandbox's own tmpfs: a directory that is everywhere and holds no program."""
BOX_BYTES = 512 << 20
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/proc", "/sys", "/nix", "/run/opengl-driver")
ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd", "group", "nsswitch.conf", "localtime", "alternatives")
PROC_GUARDED = ("sys", "sysrq-trigger", "irq", "bus", "fs")
"""Parts of /proc that root can write even from a user namespace when it is mapped to itself."""
OURS = ("agents", "scaffolds", "tools", "benchmark", "prompts", "experiments", "tests")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
LIMITS = {resource.RLIMIT_CPU: 900, resource.RLIMIT_FSIZE: 1 << 30, resource.RLIMIT_CORE: 0, resource.RLIMIT_NOFILE: 1024}


def enter_namespaces() -> None:
    """Called by the keeper while it has one thread; the next fork is the first process of the new pid namespace."""
    uid, gid = os.getuid(), os.getgid()
    flags = syscalls.NEWUSER | syscalls.NEWPID | syscalls.NEWNET | syscalls.NEWIPC | syscalls.NEWNS | syscalls.NEWUTS
    syscalls.unshare(flags)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def mount_private() -> Path:
    """A read-only root with a private tmpfs and /proc; returns the sandbox's directory. Called in the new pid namespace."""
    syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    syscalls.remount_read_only("/")
    syscalls.mount("tmpfs", str(PRIVATE), "tmpfs", syscalls.MS_NOSUID | syscalls.MS_NODEV, f"size={BOX_BYTES},mode=700")
    syscalls.mount("proc", "/proc", "proc", syscalls.MS_NOSUID | syscalls.MS_NODEV)
    for name in PROC_GUARDED:
        path = f"/proc/{name}"
        if Path(path).exists():
            syscalls.mount(path, path, None, syscalls.MS_BIND | syscalls.MS_REC)
            syscalls.remount_read_only(path)
    box = PRIVATE / "box"
    box.mkdir()
    return box


def restrict(box: Path, devices: list[str], private: bool) -> int:
    """Landlock: reads from the system and Python only, none of our own packages, writes to the box. Returns the ABI.

    A device's driver writes to the process's own /proc (it names its threads), so /proc is writable where it is `private`.
    """
    roots = {Path(p) for p in (*SYSTEM, *(f"/etc/{e}" for e in ETC), sys.prefix, sys.base_prefix, *sysconfig.get_paths().values())}
    grants = [g for root in sorted(roots) for g in _readable(root, _hidden())]
    grants.append((Path("/dev"), syscalls.LIST))
    writable = [box, *(Path("/dev") / d for d in DEVICES), *(Path(d) for d in devices)]
    if private:
        writable += [Path("/proc"), PRIVATE]
    return syscalls.landlock(grants, writable)


def _hidden() -> list[Path]:
    root = Path(__file__).resolve().parents[2]
    return [root / name for name in OURS if (root / name).exists()]


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


def limit(address_space: int | None) -> None:
    for kind, value in LIMITS.items():
        resource.setrlimit(kind, (value, value))
    if address_space:
        resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))


def private_environment(box: Path) -> None:
    """Everything that is written by habit goes to the box."""
    places = {"HOME": box, "TMPDIR": box / "tmp", "TRITON_CACHE_DIR": box / "triton", "TRITON_HOME": box, "XDG_CACHE_HOME": box / "cache"}
    for name, path in places.items():
        path.mkdir(exist_ok=True)
        os.environ[name] = str(path)
    os.chdir(box)


def witness(port: int, outsider: int, outside: str) -> dict[str, bool]:
    """Actions that must be denied, tried from inside; True where the action was indeed denied."""
    return {
        "write outside": _denied(lambda: os.close(os.open(outside, os.O_TMPFILE | os.O_WRONLY))),
        "read our packages": _denied(lambda: Path(__file__).read_bytes()),
        "signal outside": _denied(lambda: os.kill(outsider, 0)),
        "tcp": _denied(lambda: socket.create_connection(("127.0.0.1", port), timeout=1).close()),
    }


def _denied(action: Callable[[], object]) -> bool:
    try:
        action()
    except OSError:
        return True
    return False
