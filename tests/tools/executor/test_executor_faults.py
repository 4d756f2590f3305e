"""What is killed comes back; what ends leaves nothing."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from benchmark.suites import find
from tools.executor.local import LocalExecutor
from tools.settings import Settings

ROOT = Path(__file__).parents[3]
SETTINGS = Settings(device="simulated", case_s=5.0)
HONEST = (ROOT / "tests/tools/candidates/honest/softmax.py").read_text()
SLOW = "import time\ntime.sleep(1.0)\n" + HONEST


def descendants(pid: int) -> list[int]:
    """All processes below `pid`, zombies left out."""
    table: dict[int, list[int]] = {}
    for line in subprocess.run(["ps", "-eo", "pid=,ppid=,stat=,comm="], capture_output=True, text=True).stdout.splitlines():
        child, parent, state, name = line.split(maxsplit=3)
        if not state.startswith("Z") and name != "ps":
            table.setdefault(int(parent), []).append(int(child))
    found = list(table.get(pid, []))
    for child in found:
        found += table.get(child, [])
    return found


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def temporary() -> set[str]:
    return {str(path) for folder in (tempfile.gettempdir(), "/dev/shm") for path in Path(folder).glob("kernelwright-box*")}


@pytest.mark.parametrize("name", ["judge", "zygote"])
def test_lost_process_is_started_again_and_the_evaluation_retried(executor, evaluate, name):
    evaluate("x = 1")
    victim = getattr(executor.workers[0], name).process.pid
    threading.Timer(0.5, os.kill, (victim, signal.SIGKILL)).start()
    assert evaluate(SLOW).verdict == "pass"
    assert getattr(executor.workers[0], name).process.pid != victim or name == "zygote"


def test_judge_that_dies_every_time_is_an_infra_error(executor, evaluate):
    evaluate("x = 1")
    stop = threading.Event()

    def murder() -> None:
        while not stop.wait(0.05):
            judge = executor.workers[0].judge
            if judge:
                judge.process.kill()

    thread = threading.Thread(target=murder)
    thread.start()
    try:
        found = evaluate(SLOW)
    finally:
        stop.set()
        thread.join()
    assert found.verdict == "infra_error"
    assert "judge" in found.error.message
    assert evaluate(HONEST).verdict == "pass"


@pytest.mark.slow
def test_thirty_evaluations_leave_no_process_descriptor_or_file(executor, evaluate):
    evaluate(HONEST)
    time.sleep(0.2)
    processes, descriptors, files = descendants(os.getpid()), open_descriptors(), temporary()
    for number in range(30):
        evaluate(HONEST if number % 5 == 0 else ["", "x = (", "raise ValueError", "import os\nos._exit(1)"][number % 5 - 1])
    time.sleep(0.2)
    # The spare sandbox is another one each time.
    assert len(descendants(os.getpid())) == len(processes)
    assert open_descriptors() == descriptors
    assert temporary() <= files


def test_closed_executor_leaves_no_process():
    before = descendants(os.getpid())
    descriptors = open_descriptors()

    async def use() -> None:
        made = LocalExecutor(workers=1)
        assert (await made.evaluate("x = (", find("quick/softmax"), SETTINGS)).verdict == "syntax_error"
        assert len(set(descendants(os.getpid())) - set(before)) >= 2
        await made.close()

    asyncio.run(use())
    assert set(descendants(os.getpid())) <= set(before)
    assert open_descriptors() == descriptors


def test_cancelled_evaluation_ends_at_once(executor, evaluate):
    evaluate("x = 1")

    async def cancel() -> float:
        task = asyncio.create_task(executor.evaluate("while True: pass", find("quick/softmax"), SETTINGS))
        await asyncio.sleep(0.5)
        start = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - start

    assert asyncio.run(cancel()) < 1.0
    assert evaluate(HONEST).verdict == "pass"


def test_killed_broker_leaves_no_process():
    code = f"""
import asyncio
from benchmark.suites import find
from tools.executor.local import LocalExecutor
from tools.settings import Settings
executor = LocalExecutor(workers=1)
print("here", flush=True)
asyncio.run(executor.evaluate({"import time; time.sleep(60)"!r}, find("quick/softmax"), Settings(device="simulated", import_s=60)))
"""
    broker = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while len(below := descendants(broker.pid)) < 4 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert len(below) >= 4
    broker.kill()
    broker.wait()
    deadline = time.monotonic() + 10
    while (alive := [p for p in below if _alive(p)]) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert alive == []


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
