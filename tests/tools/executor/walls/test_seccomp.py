"""The filter's program: right for each architecture, and in force where it is installed."""

import errno
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tools.executor.walls import seccomp

ROOT = Path(__file__).parents[4]


def run(program: bytes, call: int, *arguments: int, arch: int) -> int:
    """What the program returns for a call: the few instructions that ours uses, as the kernel reads them."""
    steps = list(struct.iter_unpack("=HBBI", program))
    words = {0: call, 4: arch} | {16 + 8 * n: value & 0xFFFFFFFF for n, value in enumerate((*arguments, *[0] * (6 - len(arguments))))}
    value = at = 0
    while True:
        code, yes, no, k = steps[at]
        at += 1
        if code == seccomp._RETURN:
            return k
        if code == seccomp._LOAD:
            value = words[k]
        elif code == seccomp._AND:
            value &= k
        else:
            holds = {seccomp._EQUAL: value == k, seccomp._AT_LEAST: value >= k, seccomp._ANY_BIT: bool(value & k)}[code]
            at += yes if holds else no


MACHINES = sorted(seccomp._AUDIT_ARCH)
DENIED = seccomp._ERRNO | errno.EPERM


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("shared", [True, False])
def test_denied_calls_are_denied_and_others_are_not(machine: str, strict: bool, shared: bool) -> None:
    program, arch = seccomp.program(machine, strict, shared), seccomp._AUDIT_ARCH[machine]
    numbers = seccomp._NUMBERS[machine] | seccomp._SHARED_NUMBERS
    denied = {*seccomp.ALWAYS, *(seccomp.STRICT if strict else ()), *(seccomp.SHARED if shared else ())}
    for name, number in numbers.items():
        expected = DENIED if name in denied else seccomp._ERRNO | errno.ENOSYS if name == "clone3" else seccomp._ALLOW
        assert run(program, number, 1 if name in ("socket", "socketpair") else 0, 1, arch=arch) == expected, name
    assert run(program, 222, arch=arch) == seccomp._ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments_are_looked_at(machine: str) -> None:
    arch, numbers = seccomp._AUDIT_ARCH[machine], seccomp._NUMBERS[machine]
    program = seccomp.program(machine, strict=False, shared=True)
    for name, arguments in {
        "clone": (0x10000000 | 17,), "ioctl": (0, 0x5412), "prctl": (1, 0), "prlimit64": (77, 0), "sched_setaffinity": (77,),
        "socket": (2, 1), "socketpair": (1, 2),
    }.items():  # fmt: skip
        assert run(program, numbers[name], *arguments, arch=arch) == DENIED, name
    for name, arguments in {"clone": (0x3D0F00,), "ioctl": (0, 0x5401), "prctl": (15,), "prlimit64": (0, 7), "socket": (1, 5)}.items():
        assert run(program, numbers[name], *arguments, arch=arch) == seccomp._ALLOW, name


@pytest.mark.parametrize("machine", MACHINES)
def test_another_architectures_calls_end_the_process(machine: str) -> None:
    assert run(seccomp.program(machine, True, False), 1, arch=0x40000003) == seccomp._KILL


def test_x32_numbers_lead_around_nothing() -> None:
    arch = seccomp._AUDIT_ARCH["x86_64"]
    assert run(seccomp.program("x86_64", True, False), 0x40000000 | 41, arch=arch) == DENIED


@pytest.mark.skipif(not seccomp.supported(), reason=f"no filter for {os.uname().machine}")
def test_an_installed_filter_denies_and_a_compiler_still_works(tmp_path: Path) -> None:
    code = """
import socket, subprocess, threading
from tools.executor.walls import seccomp, syscalls
syscalls.no_new_privileges()
seccomp.install(strict=True, shared=True)
try:
    socket.socket()
    print("let through")
except PermissionError:
    print("denied")
open("x.c", "w").write("int f(void) { return 7; }")
subprocess.run(["cc", "-shared", "-fPIC", "x.c", "-o", "x.so"], check=True)
threading.Thread(target=print, args=(__import__("ctypes").CDLL("./x.so").f(),)).start()
"""
    environment = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["denied", "7"]
