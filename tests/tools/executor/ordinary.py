"""Runs Python as an ordinary user: `python -m tests.tools.executor.ordinary ARGUMENTS...` is `python ARGUMENTS...` as nobody.

A root that keeps Python in its own closed home opens it first, in a mount namespace of this process alone.
"""

import os
import sys

from tools.executor.walls import isolation, syscalls

NOBODY = 65534


def become() -> None:
    closed = isolation._unreachable()
    syscalls.unshare(syscalls.NEWNS)
    syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    isolation._uncover({path: syscalls.copy_mount(str(path)) for path in closed})
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


if __name__ == "__main__":
    if os.getuid() == 0:
        become()
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
