"""The Linux calls behind isolation that Python does not offer, by ctypes."""

import ctypes
import os
import struct
from collections.abc import Iterable
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

NEWNS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWUTS = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x04000000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 4096, 16384, 1 << 18
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS, _PR_SET_DUMPABLE = 1, 36, 38, 4
_MOUNT_SETATTR, _LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 442, 444, 445, 446
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = -100, 0x8000, 1

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


def die_with_parent() -> None:
    _check(_libc.prctl(_PR_SET_PDEATHSIG, 9, 0, 0, 0), "prctl")


def adopt_orphans() -> None:
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def no_new_privileges() -> None:
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def hide_memory() -> None:
    """Other processes of the same user cannot read this process's memory or environment."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")


def landlock_abi() -> int:
    """The kernel's Landlock version, 0 where there is none."""
    return max(0, _libc.syscall(_LANDLOCK_CREATE, None, 0, 1))


def landlock(grants: Iterable[tuple[Path, int]], writable: Iterable[Path]) -> int:
    """Denies this process and its children every file but those granted, TCP, and signals to the outside. Returns the ABI."""
    abi = landlock_abi()
    if not abi:
        raise OSError("this kernel has no Landlock")
    rights = (1 << 13) - 1 | (1 << 13 if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0) | (_IOCTL_DEV if abi >= 5 else 0)
    # Handled rights: files, then TCP bind and connect (ABI 4), then abstract sockets and signals (ABI 6).
    attributes = struct.pack("QQQ", rights, 3 if abi >= 4 else 0, 3 if abi >= 6 else 0)[: 8 if abi < 4 else 16 if abi < 6 else 24]
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
