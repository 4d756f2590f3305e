"""Runs the command as a user does, against a loopback server."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.servers.wire import WireServer

ROOT = Path(__file__).parent.parent.parent
VOLATILE = ("wall_s", "gpu_s", "run")


COMMAND = ("-m", "experiments.run")


def command(*words: str, program: tuple[str, ...] = COMMAND) -> list[str]:
    return [sys.executable, *program, *words]


def run(*words: str, env: dict[str, str] | None = None, cwd: Path = ROOT, timeout: float = 240) -> "subprocess.CompletedProcess[str]":
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    return subprocess.run(command(*words), capture_output=True, text=True, cwd=cwd, env=variables, timeout=timeout)


def asking(server: WireServer, runs: Path) -> list[str]:
    """The words that send a run to the server."""
    return ["model=openai/local", f"model_args.base_url={server.openai_url}", f"runs_dir={runs}"]


def start(*words: str, program: tuple[str, ...] = COMMAND) -> "subprocess.Popen[str]":
    asked = command(*words, program=program)
    return subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True)


def until(process: "subprocess.Popen[str]", met: Callable[[], bool], seconds: float = 120.0) -> None:
    """Waits for what a started command brings about; fails, with what it said, when it ends or takes too long instead."""
    deadline = time.monotonic() + seconds
    while not met():
        if process.poll() is not None or time.monotonic() > deadline:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise AssertionError(f"the command ended, or took too long: {process.communicate()}")
        time.sleep(0.01)


def stop(process: "subprocess.Popen[str]", signum: signal.Signals) -> tuple[int, str]:
    """Signals the whole session, as a terminal does, and returns exit code and all output."""
    os.killpg(process.pid, signum)
    out, error = process.communicate(timeout=120)
    return process.returncode, out + error


def unread(*command: str, both: bool = False, env: dict[str, str] | None = None) -> tuple[int, str]:
    """Runs a command into a pipe that nobody reads, standard error too if `both`; exit code and what it says on standard error else."""
    read, write = os.pipe()
    os.close(read)
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    done = subprocess.run(command, stdout=write, stderr=write if both else subprocess.PIPE, cwd=ROOT, env=variables, text=True, timeout=240)
    os.close(write)
    return done.returncode, done.stderr or ""


def session(pid: int) -> list[str]:
    """Processes that are left of a session."""
    listed = subprocess.run(["ps", "-eo", "sid=,stat=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.split()[0] == str(pid) and not line.split()[1].startswith("Z")]


def lines(run: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / f"{name}.jsonl").read_text().splitlines()]


def attempts(run: Path) -> list[dict[str, Any]]:
    """All attempts in order of their names, without what differs between two equal runs."""
    kept = [{k: v for k, v in line.items() if k not in VOLATILE} for line in lines(run, "attempts")]
    return sorted(kept, key=lambda line: (line["trajectory"], line["attempt"]))
