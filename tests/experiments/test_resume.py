"""A run that is stopped drains what is in flight and goes on from its journal; `test_kill.py` has the kills."""

import signal
import time
from pathlib import Path

import pytest

from tests.experiments import author, cli
from tests.experiments.warm import Warm
from tests.servers.wire import WireServer


@pytest.mark.parametrize("signum", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_signal_drains_calls_in_flight_and_leaves_a_run_that_resumes(tmp_path: Path, signum: signal.Signals) -> None:
    path = tmp_path / "r"
    with WireServer(author.right, delay_s=1.0) as server:
        process = cli.start(*cli.asking(server, tmp_path), "scaffold=oneshot", "benchmark.tasks=[silu]", "run_id=r")
        cli.until(process, lambda: bool(server.requests))
        code, output = cli.stop(process, signum)
        assert code == 130
        assert f"resume={path}" in output
        assert "Traceback" not in output
        assert [line["outcome"] for line in cli.lines(path, "calls")] == ["ok"]
        assert cli.lines(path, "trajectories")[0]["end_reason"] == "interrupted"
        assert cli.session(process.pid) == []
        done = cli.run(f"resume={path}")
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 1
    assert cli.attempts(path)[0]["verdict"] == "pass"


def test_a_second_signal_stops_at_once(tmp_path: Path) -> None:
    with WireServer(author.right, delay_s=60.0) as server:
        process = cli.start(*cli.asking(server, tmp_path), "scaffold=oneshot", "benchmark.tasks=[silu]", "run_id=r")
        cli.until(process, lambda: bool(server.requests))
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        start = time.monotonic()
        assert cli.stop(process, signal.SIGINT)[0] == 130
        assert time.monotonic() - start < 5
        time.sleep(0.5)
        assert cli.session(process.pid) == []


SLOW = """
import os, sys, time
fsync = os.fsync
def slow(file):
    time.sleep(3.0 * ("/replies/." in os.readlink(f"/proc/self/fd/{file}")))
    fsync(file)
os.fsync = slow
from experiments.run import main
sys.exit(main())
"""
"""The command on a disk that takes its time with replies."""


def test_a_second_signal_saves_what_was_answered(tmp_path: Path) -> None:
    path = tmp_path / "r"
    with WireServer(author.right) as server:
        process = cli.start(*cli.asking(server, tmp_path), "scaffold=oneshot", "benchmark.tasks=[silu]", "run_id=r", program=("-c", SLOW))
        cli.until(process, lambda: (path / "log.jsonl").exists() and any(event["event"] == "call" for event in cli.lines(path, "log")))
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert cli.stop(process, signal.SIGINT)[0] == 130
    assert [line["outcome"] for line in cli.lines(path, "calls")] == ["ok"]


def test_what_changes_no_question_may_come_with_resume(warm: Warm, tmp_path: Path) -> None:
    words = ["scaffold=oneshot", "scaffold.samples=4", "benchmark.tasks=[silu]", "run_id=r", "model_args.timeout_s=0.2"]
    with WireServer(lambda request: "Let me think.", delay_s=0.5) as server:
        cut = warm.run(*cli.asking(server, tmp_path), *words, kill_at=6)
        assert cut.returncode < 0
        server.requests.clear()
        server.peak = 0
        pace = ["model_args.timeout_s=30", "model_args.concurrency=1", "model_args.requests_per_minute=600"]
        done = warm.run(f"resume={tmp_path / 'r'}", *pace)
    assert done.returncode == 0, done.output
    assert (len(server.requests), server.peak) == (4, 1)
    assert [call["outcome"] for call in cli.lines(tmp_path / "r", "calls")][-4:] == ["ok"] * 4


@pytest.mark.slow
def test_resume_asks_nothing_of_a_run_that_is_over(tmp_path: Path) -> None:
    with WireServer(author.right) as server:
        assert cli.run(*cli.asking(server, tmp_path), "scaffold=oneshot", "benchmark.tasks=[silu]", "run_id=r").returncode == 0
        before = records(tmp_path)
        done = cli.run(f"resume={tmp_path / 'r'}", "concurrency=2")
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 1
        assert records(tmp_path) == before
        assert "quick/silu  pass" in done.stdout
        refused = cli.run(f"resume={tmp_path / 'r'}", "rounds=3")
    assert refused.returncode == 2
    assert "rounds cannot be set with it" in refused.stderr


def records(path: Path) -> dict[Path, bytes]:
    """All that is read back; the log tells of each start."""
    return {p: p.read_bytes() for p in path.rglob("*.jsonl") if p.name != "log.jsonl"}
