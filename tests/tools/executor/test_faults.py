"""What is killed comes back; what ends leaves nothing."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmark.suites import find
from tools.evaluation import Evaluation
from tools.executor.channel import readable
from tools.executor.compiled import CompileCache
from tools.executor.local import Loan, LocalExecutor
from tools.executor.peer import WorkerLost
from tools.executor.remote import Cancelled
from tools.executor.worker import Worker
from tools.settings import Settings

ROOT = Path(__file__).parents[3]
SETTINGS = Settings(device="simulated", case_s=5.0, profile="off")
HONEST = (ROOT / "tests/tools/candidates/honest/silu.py").read_text()
TASK = "quick/silu"
SLOW = "import time\ntime.sleep(1.0)\n" + HONEST


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


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
    assert evaluate(SLOW, TASK).verdict == "pass"
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
        found = evaluate(SLOW, TASK)
    finally:
        stop.set()
        thread.join()
    assert found.verdict == "infra_error"
    assert "judge" in found.error.message
    assert evaluate(HONEST, TASK).verdict == "pass"


CRASHES = {
    "exit": "import os\nos._exit(1)",
    "signal": "import ctypes\nctypes.string_at(1)",
    "abort": "import os\nos.abort()",
    "hang up": "import os\nos.closerange(3, 100)",
}


def test_crash_good_crash_good(evaluate):
    for source in CRASHES.values():
        assert evaluate(source, TASK).verdict == "crash"
        assert evaluate(HONEST, TASK).verdict == "pass"


def test_sandbox_that_loses_its_keeper_dies_and_is_tried_again(executor, evaluate):
    evaluate("x = 1")
    killed = []

    def murder() -> None:
        """All keepers, the one of the spare sandbox too."""
        for pid in children(executor.workers[0].zygote.process.pid):
            killed.extend([pid, *children(pid)])
            os.kill(pid, signal.SIGKILL)

    timer = threading.Timer(1.0, murder)
    timer.start()
    found = evaluate("import time\ntime.sleep(2.0)\n" + HONEST, TASK)
    timer.join()
    assert len(killed) >= 4
    assert [pid for pid in killed if _alive(pid)] == []
    assert found.verdict == "pass"


SOURCES = (
    "",
    "x = (",
    "raise ValueError",
    *CRASHES.values(),
    "import os\nif os.fork() == 0:\n    os.setsid()\n    import time; time.sleep(60)",
)


def left(executor: LocalExecutor) -> dict[str, object]:
    """What could be left behind: processes, descriptors, shared memory, temporary files, control groups."""
    time.sleep(0.3)
    executor.workers[0].drop_spare()
    time.sleep(0.3)
    return {
        "processes": descendants(os.getpid()),
        "descriptors": open_descriptors(),
        "peers' descriptors": [
            len(list(Path(f"/proc/{peer.process.pid}/fd").iterdir())) for peer in (executor.workers[0].judge, executor.workers[0].zygote)
        ],
        "segments": Path("/proc/sysvipc/shm").read_text(),
        "files": sorted(temporary()),
        "groups": sorted(map(str, Path("/sys/fs/cgroup").rglob("*kernelwright*"))),
    }


def evaluations_leave_nothing(executor: LocalExecutor, evaluate: Callable[..., Evaluation], count: int) -> None:
    for source in (HONEST, *SOURCES):
        evaluate(source, TASK)
    before = left(executor)
    for number in range(count):
        evaluate(HONEST if number % 3 == 0 else SOURCES[number % len(SOURCES)], TASK)
    assert left(executor) == before


def test_fifteen_evaluations_leave_nothing(executor, evaluate):
    evaluations_leave_nothing(executor, evaluate, 15)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_hundred_evaluations_leave_nothing(executor, evaluate):
    evaluations_leave_nothing(executor, evaluate, 200)


def test_closed_executor_leaves_no_process():
    before = descendants(os.getpid())
    descriptors = open_descriptors()

    async def use() -> None:
        made = LocalExecutor(workers=1)
        assert (await made.evaluate("x = (", find(TASK), SETTINGS)).verdict == "syntax_error"
        assert len(set(descendants(os.getpid())) - set(before)) >= 2
        await made.close()

    asyncio.run(use())
    assert set(descendants(os.getpid())) <= set(before)
    assert open_descriptors() == descriptors


def test_cancelled_evaluation_ends_at_once(executor, evaluate):
    evaluate("x = 1")

    async def cancel() -> float:
        task = asyncio.create_task(executor.evaluate("while True: pass", find(TASK), SETTINGS))
        await asyncio.sleep(0.5)
        start = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - start

    assert asyncio.run(cancel()) < 1.0
    assert evaluate(HONEST, TASK).verdict == "pass"


def test_killed_broker_leaves_no_process():
    code = f"""
import asyncio
from benchmark.suites import find
from tools.executor.local import LocalExecutor
from tools.settings import Settings
executor = LocalExecutor(workers=1)
print("here", flush=True)
asyncio.run(executor.evaluate({"import time; time.sleep(60)"!r}, find("quick/silu"), Settings(device="simulated", import_s=60)))
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


PLAN = {"mode": "simulated", "targets": ["cuda:90"], "seed": 0, "index": 0}


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker(0, None, CompileCache(None))
    yield made
    made.stop()


def test_judge_that_is_lost_while_it_starts_is_started_again(worker):
    def murder() -> None:
        while worker.judge is None:
            time.sleep(0.01)
        worker.judge.process.kill()

    thread = threading.Thread(target=murder)
    thread.start()
    with pytest.raises(WorkerLost, match="judge"):
        worker.ready("simulated", "auto")
    thread.join()
    assert worker.ready("simulated", "auto") == "simulated"
    assert worker.isolation["level"]


def test_sandbox_that_died_while_it_waited_is_nobodys_crash(worker):
    worker.ready("simulated", "auto")
    worker.prepare(PLAN)
    spare = worker.spare
    assert "ready" in spare.wait(10.0)
    for keeper in children(worker.zygote.process.pid):
        for pid in children(keeper):
            os.kill(pid, signal.SIGKILL)
    assert readable([spare.line.fileno()], 10.0)
    box = worker.sandbox(PLAN)
    assert box is not spare
    assert box.alive
    box.close()


def test_cancelling_while_a_sandbox_is_set_up_leaves_nothing(worker):
    worker.ready("simulated", "auto")
    worker.drop_spare()
    before = open_descriptors()
    worker.prepare(PLAN)
    worker.cancel()
    with pytest.raises(Cancelled):
        worker.sandbox(PLAN)
    worker.drop_spare()
    assert open_descriptors() == before
    worker.settle()
    assert worker.ready("simulated", "auto") == "simulated"


def test_giving_an_evaluation_up_reaches_no_later_one(worker):
    loan, early = Loan(), Loan()
    loan.begin(worker)
    loan.end()
    loan.give_up()
    assert not readable([worker.cancelled], 0)
    early.give_up()
    early.begin(worker)
    assert readable([worker.cancelled], 0)
    worker.settle()
