"""The command without its start-up: a process that has imported it forks one child for each start, and can have it killed at a write.

    with Warm() as warm:
        done = warm.run(["scaffold=geak", ...], kill_at=7)

A child is a process of its own, in a session of its own; its kill is a real SIGKILL. Killed at its n-th write to the run's files, it has
written nothing of it, or a part of it.
"""

import json
import os
import random
import signal
import sys
import tempfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.companion import Companion

LONGEST_S = 270
"""A start that hangs is ended before its test's time is up, so that the next one finds the process that forks it free."""


@dataclass
class Done:
    returncode: int
    """Negative: the signal that ended it."""
    output: str
    writes: int
    """To the run's files, but for its log; 0 for one that was killed."""
    pid: int


class Warm(Companion):
    def __init__(self, **env: str):
        super().__init__("tests.experiments.warm", **env)

    def run(self, *words: str, kill_at: int = 0) -> Done:
        """One start of `python -m experiments.run`. `kill_at` is the write at which it is killed, counted from 1."""
        with tempfile.NamedTemporaryFile("r") as output:
            ended = self.ask(words=words, kill_at=kill_at, output=output.name)
            return Done(output=output.read(), **ended)


class Countdown:
    """Stands in front of all writes that last, which are not those to the log, and kills its process at one of them."""

    def __init__(self, kill_at: int):
        self.kill_at = kill_at
        self.writes = 0
        rng = random.Random(kill_at)
        self.share = rng.choice([0.0, rng.random()])
        """How much of that write is done."""

    def install(self) -> None:
        from tools import jsonl

        write, put = jsonl.Lines.write, jsonl.put

        def counted_write(lines: Any, line: bytes) -> None:
            if lines.sync and self.due():
                os.write(lines.file, line[: int(self.share * len(line))])
                os.kill(os.getpid(), signal.SIGKILL)
            write(lines, line)

        def counted_put(path: Path, data: bytes) -> None:
            if self.due():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.with_name(f".{path.name}.{os.getpid()}").write_bytes(data[: int(self.share * len(data))])
                os.kill(os.getpid(), signal.SIGKILL)
            put(path, data)

        jsonl.Lines.write = counted_write  # type: ignore[method-assign,assignment]
        jsonl.put = counted_put

    def due(self) -> bool:
        self.writes += 1
        return self.writes == self.kill_at


def child(words: list[str], kill_at: int, output: str, report: int) -> int:
    from experiments import run

    os.setsid()
    signal.alarm(LONGEST_S)
    out = os.open(output, os.O_WRONLY)
    os.dup2(out, 1)
    os.dup2(out, 2)
    sys.argv = ["experiments.run", *words]
    countdown = Countdown(kill_at)
    countdown.install()
    code = run.main()
    os.write(report, str(countdown.writes).encode())
    return code


def main() -> None:
    for name in ("experiments.collect", "experiments.runner", "langgraph.graph", "openai"):
        import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        read, report = os.pipe()
        pid = os.fork()
        if not pid:
            code = 70
            try:
                code = child(**asked, report=report)
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        os.close(report)
        status = os.waitpid(pid, 0)[1]
        with os.fdopen(read) as counted:
            writes = int(counted.read() or 0)
        print(json.dumps({"returncode": os.waitstatus_to_exitcode(status), "writes": writes, "pid": pid}), flush=True)


if __name__ == "__main__":
    main()
