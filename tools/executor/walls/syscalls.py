"""The Linux calls behind isolation that Python does not offer, by ctypes."""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterable
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

NEWNS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWUTS = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x04000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 36, 38
_PR_SET_KEEPCAPS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE = 8, 47, 2
_SECCOMP_MODE_FILTER, _CAPABILITY_VERSION_3 = 2, 0x20080522
SEARCH = 1 << 2
"""The capability to search and read directories whatever their modes say."""
# These numbers are the same on every architecture that Triton runs on.
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR, _LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 428, 429, 442, 444, 445, 446
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = -100, 0x8000, 1
_OPEN_TREE_CLONE, _OPEN_TREE_CLOEXEC, _MOVE_MOUNT_FROM_FD = 1, os.O_CLOEXEC, 4

# Landlock's file rights (linux/landlock.h); the later ones exist from ABI 2 (refer), 3 (truncate) and 5 (ioctl on devices) on.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
READ = _EXECUTE | _READ_FILE | _READ_DIR
LIST = _READ_DIR
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


def _check(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def unshare(flags: int) -> None:
    _check(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    kind_ = kind.encode() if kind else None
    _check(_libc.mount(source.encode(), target.encode(), kind_, flags, data.encode() or None), f"mount {target}")


def remount_read_only(root: str) -> None:
    """Every mount at and below `root` becomes read-only in this mount namespace; device nodes stay writable."""
    attributes = struct.pack("QQQQ", _MOUNT_ATTR_RDONLY, 0, 0, 0)
    _check(_libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, root.encode(), _AT_RECURSIVE, attributes, len(attributes)), "mount_setattr")


def copy_mount(path: str) -> int:
    """A descriptor of a copy of what is mounted at `path` and below, to be put elsewhere with `place_mount`."""
    flags = _OPEN_TREE_CLONE | _OPEN_TREE_CLOEXEC | _AT_RECURSIVE
    return _check(_libc.syscall(_OPEN_TREE, _AT_FDCWD, path.encode(), flags), f"open_tree {path}")


def place_mount(fd: int, target: str) -> None:
    _check(_libc.syscall(_MOVE_MOUNT, fd, b"", _AT_FDCWD, target.encode(), _MOVE_MOUNT_FROM_FD), f"move_mount {target}")


def raise_loopback() -> None:
    """In a network namespace of one's own."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        fcntl.ioctl(line, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))


def die_with_parent() -> None:
    _check(_libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl")


def adopt_orphans() -> None:
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def no_new_privileges() -> None:
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def hide_memory() -> None:
    """Other processes of the same user cannot read this process's memory or environment."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")


def own_proc() -> None:
    """After a change of uid this process may write its own /proc again, where a device's driver names its threads."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl")


def keep_capabilities() -> None:
    """Over a change of uid from root to another one."""
    _check(_libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0), "prctl")


def drop_capabilities(kept: int = 0) -> None:
    """All but `kept`, a mask, which this process and its children have."""
    header, sets = struct.pack("Ii", _CAPABILITY_VERSION_3, 0), struct.pack("6I", kept, kept, kept, 0, 0, 0)
    _check(_libc.capset(header, sets), "capset")
    for number in range(kept.bit_length()):
        if kept >> number & 1:
            _check(_libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, number, 0, 0), "prctl")


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def filter_calls(program: bytes) -> None:
    """Installs a seccomp filter, for good, in this process and its children. Needs `no_new_privileges`."""
    packed = _Program(len(program) // 8, program)
    _check(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(packed), 0, 0), "prctl seccomp")


def attach(pid: int) -> None:
    """Becomes the tracer of another process. Only tried, to see that it is denied."""
    _check(_libc.ptrace(16, pid, None, None), "ptrace")


def landlock_abi() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    return max(0, _libc.syscall(_LANDLOCK_CREATE, None, 0, 1))


def landlock(grants: Iterable[tuple[Path, int]], writable: Iterable[Path], tcp: bool = False) -> int:
    """Denies this process and its children every file but those granted, TCP, and signals to the outside. Returns the ABI."""
    abi = landlock_abi()
    if not abi:
        raise OSError("this kernel has no Landlock")
    rights = (1 << 13) - 1 | (1 << 13 if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0) | (_IOCTL_DEV if abi >= 5 else 0)
    # Handled rights: files, then TCP bind and connect (ABI 4), then abstract sockets and signals (ABI 6).
    network, scopes = 3 if abi >= 4 and not tcp else 0, 3 if abi >= 6 else 0
    attributes = struct.pack("QQQ", rights, network, scopes)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = _check(_libc.syscall(_LANDLOCK_CREATE, attributes, len(attributes), 0), "landlock_create_ruleset")
    for path, access in (*grants, *((p, rights) for p in writable)):
        _grant(ruleset, path, access & rights)
    no_new_privileges()
    _check(_libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0), "landlock_restrict_self")
    os.close(ruleset)
    return abi


def _grant(ruleset: int, path: Path, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    access = access if path.is_dir() else access & _FILE_RIGHTS
    rule = struct.pack("=Qi", access, fd)
    _check(_libc.syscall(_LANDLOCK_ADD, ruleset, 1, rule, 0), f"landlock_add_rule {path}")
    os.close(fd)
