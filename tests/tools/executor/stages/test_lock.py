"""Who may use a GPU when: locks in files, taken by threads as by processes."""

import os
import stat
import subprocess
import sys
import threading
import time
import uuid
from types import SimpleNamespace

import pytest

from tools.executor.remote import Cancelled
from tools.executor.stages.lock import FOLDER, gpu_lock
from tools.executor.stages.verdicts import Stop


@pytest.fixture
def worker():
    name = f"test-{uuid.uuid4()}"
    reader, writer = os.pipe()
    yield SimpleNamespace(device={"uuids": ["other", name]}, cancelled=reader, cancel=lambda: os.write(writer, b"x"), name=name)
    os.close(reader)
    os.close(writer)
    for path in FOLDER.glob(f"kernelwright-gpu-{name}.*"):
        path.unlink()


def test_a_gpu_that_is_held_alone_is_held_by_nobody_else(worker):
    for shared in (False, True):
        with gpu_lock(1, worker), pytest.raises(Stop) as stop, gpu_lock(1, worker, shared, seconds=0.05):
            pass
        assert stop.value.failure.kind == "infra_error"
        assert f"process {os.getpid()}" in stop.value.failure.message


def test_calls_share_a_gpu_and_keep_a_timing_waiting(worker):
    with gpu_lock(1, worker, shared=True):
        with gpu_lock(1, worker, shared=True, seconds=0.05):
            pass
        with pytest.raises(Stop), gpu_lock(1, worker, seconds=0.05):
            pass


def test_gpus_are_told_apart_by_uuid_and_not_by_index(worker):
    same = SimpleNamespace(device={"uuids": [worker.name]}, cancelled=worker.cancelled)
    with gpu_lock(1, worker), pytest.raises(Stop), gpu_lock(0, same, seconds=0.05):
        pass
    different = SimpleNamespace(device={"uuids": ["", "", worker.name + "x"]}, cancelled=worker.cancelled)
    with gpu_lock(1, worker), gpu_lock(2, different, seconds=0.05):
        pass
    (FOLDER / f"kernelwright-gpu-{worker.name}x.lock").unlink()
    (FOLDER / f"kernelwright-gpu-{worker.name}x.gate").unlink()


def test_every_user_may_lock(worker):
    before = os.umask(0o077)
    try:
        with gpu_lock(1, worker):
            pass
    finally:
        os.umask(before)
    mode = (FOLDER / f"kernelwright-gpu-{worker.name}.lock").stat().st_mode
    assert stat.S_IMODE(mode) == 0o666


def test_a_link_in_the_place_of_the_lock_is_not_followed(worker, tmp_path):
    target = tmp_path / "file"
    target.write_text("precious")
    (FOLDER / f"kernelwright-gpu-{worker.name}.lock").symlink_to(target)
    with pytest.raises(OSError), gpu_lock(1, worker):
        pass
    assert target.read_text() == "precious"


def test_lock_of_a_dead_process_is_free(worker):
    script = f"import fcntl, os; f = open('{FOLDER}/kernelwright-gpu-{worker.name}.lock', 'w'); fcntl.flock(f, 2); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", script], check=False)
    had = False
    with gpu_lock(1, worker, seconds=0.05):
        had = True
    assert had


def test_timings_that_wait_come_one_after_another_before_calls_that_came_later(worker):
    order = []

    def use(name: str, shared: bool) -> threading.Thread:
        def hold() -> None:
            with gpu_lock(1, worker, shared):
                order.append(name)
                time.sleep(0.05)

        thread = threading.Thread(target=hold)
        thread.start()
        return thread

    with gpu_lock(1, worker, shared=True):
        first = use("timing", shared=False)
        # Until it has closed the gate.
        while _free(worker):
            pass
        threads = [first, use("call", shared=True), use("timing", shared=False)]
        threads[1].join(0.1)
        assert order == []
    for thread in threads:
        thread.join()
    assert order == ["timing", "timing", "call"]


def _free(worker) -> bool:
    try:
        with gpu_lock(1, worker, shared=True, seconds=0.0):
            return True
    except Stop:
        return False


def test_who_does_not_want_any_more_does_not_wait(worker):
    with gpu_lock(1, worker):
        worker.cancel()
        with pytest.raises(Cancelled), gpu_lock(1, worker):
            pass
