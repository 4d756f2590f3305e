import subprocess
import sys

import pytest

from benchmark.errors import UserError
from tools import simulated

FORK = """
import os, tempfile, time
os.environ["OPENBLAS_NUM_THREADS"] = "1"
from tools import platforms, simulated
simulated.warm()
threads = len(os.listdir("/proc/self/task"))
pid = os.fork()
if pid == 0:
    import torch
    from tools.simulated.warmup import _row
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
    with simulated.Session(platforms.default_targets(), platforms.sheet("h100")) as session:
        x = session.to_device(torch.ones(200))
        y = torch.empty_like(x)
        _row[(1,)](x, y, 200, BLOCK=256)
        right = torch.allclose(session.to_host(y), torch.full((200,), 1 / 200))
    os._exit(0 if right and session.launches == ["_row"] else 3)
print(threads, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), os.environ["TRITON_DEFAULT_FP_FUSION"])
"""


def test_a_warm_process_has_one_thread_and_its_forks_compile_and_run() -> None:
    run = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout.split() == ["1", "0", "1"]
    assert run.stderr == ""


@pytest.mark.parametrize("version", ["3.6.0", "3.10.1", "2.3.1"])
def test_another_triton_is_refused_in_a_sentence(version: str) -> None:
    with pytest.raises(UserError, match=rf"needs triton 3\.7 to 3\.9, and this is {version}"):
        simulated.require(version)


@pytest.mark.parametrize("version", ["3.7.1", "3.8.0", "3.9.0"])
def test_the_tritons_that_are_known_are_accepted(version: str) -> None:
    simulated.require(version)
