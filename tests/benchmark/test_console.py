import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("module", ["benchmark.list", "tools.doctor"])
def test_reader_that_hangs_up_causes_no_traceback(module: str) -> None:
    command = subprocess.Popen([sys.executable, "-m", module], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert command.stdout is not None
    command.stdout.close()
    _, errors = command.communicate(timeout=120)
    assert (command.returncode, errors) == (0, b"")


def test_what_is_said_is_there_at_once() -> None:
    code = "import os\nfrom benchmark.console import show\nshow('here')\nos._exit(0)\n"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True).stdout == b"here\n"
