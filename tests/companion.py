"""A Python process beside the tests that has imported what takes long, and does what a line of JSON asks for."""

import json
import os
import subprocess
import sys
from typing import Any, Self

from tests.experiments.cli import ROOT


class Companion:
    """`python -m module`, which answers each line with a line, and ends when its input does."""

    def __init__(self, module: str, **env: str):
        self.module = module
        self.env = {**os.environ, "PYTHONPATH": str(ROOT), **env}

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", self.module]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=self.env)
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer
