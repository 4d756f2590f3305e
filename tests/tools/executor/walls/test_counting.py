"""The profiler's walls: it runs in namespaces of its own with a loopback, and sees nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.platforms.test_ncu import log
from tools.platforms import ncu

ROOT = Path(__file__).resolve().parents[4]
RUN = """
import os, sys
import torch
from tools.executor.walls import counting
from tools.executor.walls.isolation import Walls
torch.set_num_threads(1)
files = {"fake.py": sys.stdin.buffer.read()}
walls = Walls("full", drop=os.getuid() == 0)
print(counting.walled(walls, files, float(sys.argv[1]), lambda box, metrics: [sys.executable, str(box / "fake.py"), str(box), *metrics]))
"""


def walled(fake: str, seconds: float = 60.0) -> str:
    """What a program in the profiler's place says through its log."""
    command = [sys.executable, "-c", RUN, str(seconds)]
    done = subprocess.run(command, input=fake, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_log_comes_back() -> None:
    text = log("add_kernel")
    said = walled(f"import sys, pathlib\n(pathlib.Path(sys.argv[1]) / 'counters.csv').write_text({text!r})\n")
    assert [launch.kernel for launch in ncu.parse(said)] == ["add_kernel"]


def test_it_has_a_loopback_of_its_own_and_no_file_of_ours() -> None:
    said = walled(f"""
import pathlib, socket, sys
box = pathlib.Path(sys.argv[1])
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname(), timeout=5)
found = ["talks", str(sorted(i[1] for i in socket.if_nameindex()))]
try:
    pathlib.Path({str(ROOT / "tools/evaluation.py")!r}).read_text()
    found.append("reads")
except OSError:
    found.append("does not read")
(box / "counters.csv").write_text(" ".join(found))
""")
    assert said.strip() == "talks ['lo'] does not read"


def test_metrics_that_the_device_lacks_are_left_out_the_second_time() -> None:
    lacking = ncu.METRICS[0]
    said = walled(f"""
import pathlib, sys
log = pathlib.Path(sys.argv[1]) / "counters.csv"
if {lacking!r} in sys.argv:
    log.write_text("==ERROR== Failed to find metric " + {lacking!r})
    sys.exit(1)
log.write_text({log("k")!r})
""")
    assert len(ncu.parse(said)) == 1


def test_a_profiler_that_fails_is_quoted() -> None:
    with pytest.raises(ValueError, match="Failed to initialize"):
        ncu.parse(walled("import sys\nsys.exit('Failed to initialize the profiler')\n"))


def test_a_profiler_that_hangs_is_ended() -> None:
    with pytest.raises(ValueError, match="no end within 3 s"):
        ncu.parse(walled("import time\ntime.sleep(100)\n", 3.0))
