"""What a candidate may use has bounds, whatever it tries, and the next one does not notice."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tools.evaluation import Evaluation
from tools.settings import Settings

ROOT = Path(__file__).parents[4]
SETTINGS = Settings(device="simulated", case_s=20.0, profile="off")
HONEST = (ROOT / "tests/tools/candidates/honest/silu.py").read_text()
Evaluate = Callable[..., Evaluation]


def entry(code: str) -> str:
    """A candidate that does this when it is called."""
    lines = "".join(f"    {line}\n" for line in code.strip().splitlines())
    return f"import mmap, os, subprocess, threading, time\n\ndef softmax(input, dim, dtype=None):\n{lines}    return input\n"


BOMBS = {
    "forks": ("while True:\n    os.fork()", {"runtime_error"}),
    "forks by programs": ("held = [subprocess.Popen(['/bin/sleep', '60']) for _ in range(2000)]", {"runtime_error"}),
    "threads": ("while True:\n    threading.Thread(target=time.sleep, args=(60,)).start()", {"runtime_error"}),
    "memory": ("held = bytearray(1 << 40)", {"oom"}),
    "shared memory": ("held = []\nwhile True:\n    held.append(mmap.mmap(-1, 1 << 30))", {"oom", "runtime_error"}),
    "memory files": ("held = []\nwhile True:\n    held.append(os.memfd_create('x'))", {"runtime_error"}),
    "a file": ("with open('fill', 'wb') as file:\n    while True:\n        file.write(bytes(1 << 24))", {"runtime_error"}),
    "many files": ("number = 0\nwhile True:\n    open(f'f{number}', 'wb').write(b'x')\n    number += 1", {"runtime_error"}),
    "descriptors": ("held = []\nwhile True:\n    held.append(open('/dev/null'))", {"runtime_error"}),
    "a deep stack": ("def deep(n):\n    return deep(n + 1)\ndeep(0)", {"runtime_error"}),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_contained(evaluate: Evaluate, name: str) -> None:
    code, verdicts = BOMBS[name]
    found = evaluate(entry(code), settings=SETTINGS)
    assert found.verdict in verdicts, (found.verdict, found.error)
    assert evaluate(HONEST, "quick/silu").verdict == "pass"


def test_forks_that_never_give_up_end_with_their_time(evaluate: Evaluate) -> None:
    code = "while True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    start = time.monotonic()
    assert evaluate(entry(code), settings=replace(SETTINGS, case_s=2.0)).verdict == "timeout"
    assert time.monotonic() - start < 30
    assert evaluate(HONEST, "quick/silu").verdict == "pass"


def test_output_is_cut_and_harms_nothing(evaluate: Evaluate) -> None:
    found = evaluate("print('x' * (1 << 24))\n" + HONEST, "quick/silu")
    assert found.verdict == "pass"
    assert found.logs["truncated"]
    assert len(found.logs["stdout"]) <= 1 << 14


@pytest.mark.slow
def test_memory_of_many_processes_counts_together(evaluate: Evaluate) -> None:
    code = "for _ in range(8):\n    if os.fork() == 0:\n        held = b'x' * (1 << 30)\n        time.sleep(60)\ntime.sleep(60)"
    found = evaluate(entry(code), settings=replace(SETTINGS, case_s=30.0))
    assert found.verdict == "oom", found.error
    assert "memory" in found.error.message
    assert evaluate(HONEST, "quick/silu").verdict == "pass"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["forks", "a file", "threads"])
def test_a_bomb_is_contained_without_namespaces(evaluate: Evaluate, name: str) -> None:
    settings = replace(SETTINGS, sandbox="landlock", case_s=20.0)
    found = evaluate(entry(BOMBS[name][0]), settings=settings)
    assert found.verdict == "runtime_error", (found.verdict, found.error)
    assert evaluate(HONEST, "quick/silu", settings).verdict == "pass"


@pytest.mark.parametrize(
    ("use", "over"),
    [
        ("held = b'x' * (200 << 20)", "memory"),
        ("import mmap; held = mmap.mmap(-1, 200 << 20); held.write(b'x' * (200 << 20))", "memory"),
        ("held = open('fill', 'wb'); os.unlink('fill'); held.write(bytes(90 << 20)); held.flush()", "disk"),
        ("open('fill', 'wb').write(bytes(90 << 20))", "disk"),
        ("pass", "None"),
    ],
)
def test_the_meter_sees_what_a_child_uses(tmp_path: Path, use: str, over: str) -> None:
    code = f"""
import os, pathlib, signal
from tools.executor.walls import limits
limits.DISK = 80 << 20
ready, told = os.pipe()
if os.fork() == 0:
    {use}
    os.write(told, b"x")
    signal.pause()
os.read(ready, 1)
print(limits.Meter(160 << 20, pathlib.Path.cwd()).over())
os.kill(next(limits.below(os.getpid())), signal.SIGKILL)
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == over
