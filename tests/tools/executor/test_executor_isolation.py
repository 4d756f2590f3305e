"""The walls, seen from inside: each candidate tries one thing and says by its verdict whether it was let."""

import os
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tools.evaluation import Evaluation
from tools.executor import isolation, witness
from tools.settings import Settings

SETTINGS = Settings(device="simulated")
HEAD = "import os, socket, subprocess, sys\n"
ORPHAN = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sleep", ["kernelwright-orphan", "60"])
    os._exit(0)
"""
TAIL = "\ndef softmax(input, dim, dtype=None):\n    return input\n"


def denied(evaluate: Callable[..., Evaluation], code: str, settings: Settings = SETTINGS) -> str:
    """Import fails where the action is denied."""
    found = evaluate(HEAD + code + TAIL, settings=settings)
    assert found.verdict == "import_error", (found.verdict, found.error)
    return found.error.detail["type"]


@pytest.mark.parametrize("level", ["full", "landlock"])
def test_each_level_denies_what_it_must(level):
    _, tried = witness.strongest(level, [])
    if isinstance(tried[level], str):
        pytest.skip(f"not to be had here: {tried[level]}")
    assert all(tried[level].values()), tried[level]


def test_process_level_is_never_chosen_by_itself():
    walls, tried = witness.strongest("auto", [])
    assert walls is None or walls.level != "process"
    assert "process" not in tried


def test_level_and_layers_are_in_the_evaluation(evaluate):
    found = evaluate("x = 1")
    assert found.isolation["level"] in isolation.LEVELS[:2]

    assert {"tcp", "write outside", "read our packages", "signal outside"} <= set(found.isolation["denied"])


def test_write_outside_is_denied(evaluate, tmp_path):
    assert denied(evaluate, f"open({str(tmp_path / 'x')!r}, 'w')") in ("PermissionError", "OSError")
    assert not (tmp_path / "x").exists()


def test_home_of_the_user_is_unreadable(evaluate):
    assert denied(evaluate, f"os.listdir({str(Path.home())!r})") == "PermissionError"


def test_environment_holds_no_secret(executor, evaluate, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "secret")
    executor.workers[0].stop_peers()
    found = evaluate(HEAD + "print(sorted(os.environ), open('/proc/self/environ').read())" + TAIL)
    assert "PATH" in found.logs["stdout"]
    assert "KEY" not in found.logs["stdout"]
    assert "secret" not in found.logs["stdout"]


def test_network_is_out_of_reach(evaluate):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert denied(evaluate, f"socket.create_connection(('127.0.0.1', {port}), timeout=2)") in (
            "PermissionError",
            "ConnectionRefusedError",
            "OSError",
        )


def test_other_processes_are_out_of_reach(evaluate):
    assert denied(evaluate, f"os.kill({os.getpid()}, 0)") in ("ProcessLookupError", "PermissionError")


def test_own_directory_is_writable_and_private(evaluate):
    code = "open('note', 'x').write('x'); open(os.environ['TMPDIR'] + '/note', 'x').write('x')"
    for _ in range(2):
        assert evaluate(HEAD + code + TAIL).verdict == "wrong_numeric"


@pytest.mark.parametrize("level", ["landlock", "process"])
def test_weaker_levels_work_and_leave_no_survivor(evaluate, level):
    found = evaluate(HEAD + ORPHAN + TAIL, settings=replace(SETTINGS, sandbox=level))
    assert found.isolation["level"] == level
    assert found.verdict == "wrong_numeric"
    running = [line for line in os.popen("ps -eo args") if "kernelwright-orphan" in line and "ps -eo" not in line]
    assert running == []
