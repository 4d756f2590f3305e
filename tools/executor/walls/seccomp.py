"""System calls that a candidate has no use for, denied by a filter of our own (a small BPF program; no library).

Landlock lets through what is not a file of its domain: UDP and Unix sockets, new namespaces, memory that no path leads to, modes
and times of files, other processes' priorities. This filter closes these ways.
"""

import errno
import platform
import struct

from tools.executor.walls import syscalls

_Instruction = bytes
_Rule = list[_Instruction]

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X32 = 0x40000000
"""On x86_64 the same calls exist once more with this bit, by other numbers than those that we deny."""
_NUMBERS = {
    "x86_64": {
        "socket": 41, "connect": 42, "accept": 43, "bind": 49, "listen": 50, "socketpair": 53, "clone": 56, "prctl": 157, "ioctl": 16,
        "shmget": 29, "semget": 64, "msgget": 68, "chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "ptrace": 101,
        "syslog": 103, "utime": 132, "mknod": 133, "personality": 135, "setpriority": 141, "sched_setparam": 142,
        "sched_setscheduler": 144, "pivot_root": 155, "adjtimex": 159, "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165,
        "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172,
        "ioperm": 173, "init_module": 175, "delete_module": 176, "quotactl": 179, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190,
        "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199, "sched_setaffinity": 203, "clock_settime": 227, "utimes": 235,
        "mq_open": 240, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "ioprio_set": 251, "migrate_pages": 256,
        "mknodat": 259, "fchownat": 260, "futimesat": 261, "fchmodat": 268, "unshare": 272, "move_pages": 279, "utimensat": 280,
        "accept4": 288, "perf_event_open": 298, "fanotify_init": 300, "prlimit64": 302, "name_to_handle_at": 303,
        "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312,
        "finit_module": 313, "sched_setattr": 314, "memfd_create": 319, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
    },
    "aarch64": {
        "setxattr": 5, "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16, "ioctl": 29,
        "ioprio_set": 30, "mknodat": 33, "umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51, "fchmod": 52, "fchmodat": 53,
        "fchownat": 54, "fchown": 55, "quotactl": 60, "utimensat": 88, "acct": 89, "personality": 92, "unshare": 97, "kexec_load": 104,
        "init_module": 105, "delete_module": 106, "clock_settime": 112, "syslog": 116, "ptrace": 117, "sched_setparam": 118,
        "sched_setscheduler": 119, "sched_setaffinity": 122, "setpriority": 140, "reboot": 142, "sethostname": 161,
        "setdomainname": 162, "prctl": 167, "settimeofday": 170, "adjtimex": 171, "mq_open": 180, "msgget": 186, "semget": 190,
        "shmget": 194, "socket": 198, "socketpair": 199, "bind": 200, "listen": 201, "accept": 202, "connect": 203, "add_key": 217,
        "request_key": 218, "keyctl": 219, "clone": 220, "swapon": 224, "swapoff": 225, "migrate_pages": 238, "move_pages": 239,
        "perf_event_open": 241, "accept4": 242, "prlimit64": 261, "fanotify_init": 262, "name_to_handle_at": 264,
        "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271, "kcmp": 272,
        "finit_module": 273, "sched_setattr": 274, "memfd_create": 279, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
    },
}  # fmt: skip
_SHARED_NUMBERS = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429, "fsopen": 430,
    "fsconfig": 431, "fsmount": 432, "fspick": 433, "clone3": 435, "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442,
    "quotactl_fd": 443, "memfd_secret": 447, "process_mrelease": 448, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466,
    "open_tree_attr": 467, "file_setattr": 469,
}  # fmt: skip
"""Numbers given since Linux 5.1 are the same everywhere."""

ALWAYS = (
    "connect", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_getfd",
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "open_tree_attr", "move_mount", "fsopen", "fsconfig",
    "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at", "fanotify_init", "mknod", "mknodat",
    "shmget", "semget", "msgget", "mq_open", "memfd_secret",
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register", "add_key", "request_key", "keyctl",
    "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "iopl", "ioperm", "acct", "swapon", "swapoff",
    "reboot", "sethostname", "setdomainname", "syslog", "quotactl", "quotactl_fd", "settimeofday", "clock_settime", "clock_adjtime",
    "adjtimex", "personality",
)  # fmt: skip
STRICT = ("socket", "socketpair", "bind", "listen", "accept", "accept4", "memfd_create")
"""Denied where the device's driver can do without. (CUDA listens on a Unix socket of its own, to which nobody may connect.)"""
SHARED = (
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "utimensat", "futimesat",
    "setxattr", "lsetxattr", "fsetxattr", "setxattrat", "removexattr", "lremovexattr", "fremovexattr", "removexattrat", "file_setattr",
    "setpriority", "sched_setparam", "sched_setscheduler", "sched_setattr", "ioprio_set", "migrate_pages", "move_pages",
)  # fmt: skip
"""Denied where the files and processes of the same user are in sight (no namespaces)."""

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_NR, _ARCH = 0, 4
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_NEW_NAMESPACES = 0x7E020000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_PR_SET_PDEATHSIG = 1
_AF_UNIX, _SOCK_DGRAM, _SOCK_RAW, _TYPE_MASK = 1, 2, 3, 0xF


def supported() -> bool:
    return platform.machine() in _NUMBERS


def install(strict: bool, shared: bool) -> None:
    """Filters this process and its children for good. Needs `no_new_privileges`, and an architecture that is `supported`."""
    syscalls.filter_calls(program(platform.machine(), strict, shared))


def program(machine: str, strict: bool, shared: bool) -> bytes:
    """`strict`: no socket of any kind, no memory file. `shared`: other processes and files of the user are in sight."""
    numbers = _NUMBERS[machine] | _SHARED_NUMBERS
    names = [*ALWAYS, *(STRICT if strict else ()), *(SHARED if shared else ())]
    rules = [_deny(numbers[name]) for name in names if name in numbers]
    # What clone3 is asked cannot be read by a filter; without it glibc takes clone.
    rules += [_deny(numbers["clone3"], errno.ENOSYS), _deny_where(numbers["clone"], 0, _ANY_BIT, _NEW_NAMESPACES)]
    rules += [_deny_where(numbers["ioctl"], 1, _EQUAL, number) for number in (_TIOCSTI, _TIOCLINUX)]
    rules.append(_deny_where(numbers["prctl"], 0, _EQUAL, _PR_SET_PDEATHSIG))
    if shared:
        rules += [_deny_unless(numbers[name], 0, 0) for name in ("prlimit64", "sched_setaffinity")]
    if not strict:
        for name in ("socket", "socketpair"):
            rules.append(_deny_unless(numbers[name], 0, _AF_UNIX))
            # A datagram can be sent to any path without connect.
            rules += [_deny_where(numbers[name], 1, _EQUAL, kind, _TYPE_MASK) for kind in (_SOCK_DGRAM, _SOCK_RAW)]
    head = [_step(_LOAD, _ARCH), _step(_EQUAL, _AUDIT_ARCH[machine], 1, 0), _step(_RETURN, _KILL), _step(_LOAD, _NR)]
    if machine == "x86_64":
        head += [_step(_AT_LEAST, _X32, 0, 1), _refuse()]
    return b"".join([*head, *(step for rule in rules for step in rule), _step(_RETURN, _ALLOW)])


def _step(code: int, k: int, yes: int = 0, no: int = 0) -> _Instruction:
    return struct.pack("=HBBI", code, yes, no, k)


def _refuse(error: int = errno.EPERM) -> _Instruction:
    return _step(_RETURN, _ERRNO | error)


def _deny(number: int, error: int = errno.EPERM) -> _Rule:
    return [_step(_EQUAL, number, 0, 1), _refuse(error)]


def _deny_where(number: int, argument: int, test: int, value: int, mask: int = 0xFFFFFFFF) -> _Rule:
    """Denied if the test holds for the lower half of an argument."""
    return _if_call(number, [_load(argument), _step(_AND, mask), _step(test, value, 0, 1), _refuse()])


def _deny_unless(number: int, argument: int, value: int) -> _Rule:
    return _if_call(number, [_load(argument), _step(_EQUAL, value, 1, 0), _refuse()])


def _if_call(number: int, steps: _Rule) -> _Rule:
    return [_step(_EQUAL, number, 0, len(steps) + 1), *steps, _step(_LOAD, _NR)]


def _load(argument: int) -> _Instruction:
    return _step(_LOAD, 16 + 8 * argument)
