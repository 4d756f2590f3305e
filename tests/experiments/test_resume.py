"""A run that is killed or stopped goes on from its journal: nothing that was answered is asked twice, and it ends as if undisturbed."""

import json
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.experiments import author, cli
from tests.servers.wire import WireServer

WORDS = ["scaffold=geak", "rounds=3", "benchmark.tasks=[silu]", "run_id=r"]


def asked(server: WireServer) -> Counter[str]:
    return Counter(json.dumps(request["messages"]) for request in server.requests)


def undisturbed(runs: Path) -> tuple[list[dict[str, Any]], Counter[str]]:
    with WireServer(author.always_wrong) as server:
        done = cli.run(*cli.asking(server, runs), *WORDS)
    assert done.returncode == 0, done.stderr
    return cli.attempts(runs / "r"), asked(server)


@pytest.mark.slow
@pytest.mark.parametrize(("file", "count"), [("calls", 2), ("calls", 5), ("evaluations", 1), ("evaluations", 3)])
def test_a_run_killed_in_the_middle_ends_as_if_undisturbed(tmp_path: Path, file: str, count: int) -> None:
    expected, prompts = undisturbed(tmp_path / "whole")
    path = tmp_path / "killed" / "r"
    with WireServer(author.always_wrong, delay_s=0.2) as server:
        process = cli.start(*cli.asking(server, path.parent), *WORDS)
        cli.await_lines(path / f"{file}.jsonl", count)
        assert cli.stop(process, signal.SIGKILL)[0] == -signal.SIGKILL
        logged = Counter(line["prompt_sha"] for line in cli.lines(path, "calls") if line["outcome"] == "ok")
        in_flight = len(server.requests) - logged.total()
        assert in_flight <= 2
        assert logged.total() < prompts.total()
        done = cli.run(f"resume={path}")
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == prompts.total() + in_flight
    assert set(asked(server)) == set(prompts)
    answered = [json.loads((path / "prompts" / f"{sha}.json").read_text())["messages"] for sha in logged]
    assert [asked(server)[json.dumps(messages)] for messages in answered] == [1] * len(answered)
    assert cli.attempts(path) == expected
    assert [t["end_reason"] for t in cli.lines(path, "trajectories")] == ["rounds"]


@pytest.mark.slow
def test_a_second_kill_and_a_torn_line_change_nothing(tmp_path: Path) -> None:
    expected, _ = undisturbed(tmp_path / "whole")
    path = tmp_path / "killed" / "r"
    with WireServer(author.always_wrong, delay_s=0.2) as server:
        words = [*cli.asking(server, path.parent), *WORDS]
        for count in (1, 3):
            process = cli.start(*words)
            cli.await_lines(path / "calls.jsonl", count)
            cli.stop(process, signal.SIGKILL)
            words = [f"resume={path}"]
        with (path / "calls.jsonl").open("ab") as file:
            file.write(b'{"schema_version": 1, "run": "r", "call_id": "quick/si')
        done = cli.run(*words)
    assert done.returncode == 0, done.stderr
    assert "dropped a torn last line of calls.jsonl (54 bytes)" in done.stderr
    assert cli.attempts(path) == expected


@pytest.mark.parametrize("signum", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_signal_drains_calls_in_flight_and_leaves_a_run_that_resumes(tmp_path: Path, signum: signal.Signals) -> None:
    path = tmp_path / "r"
    with WireServer(author.right, delay_s=1.0) as server:
        process = cli.start(*cli.asking(server, tmp_path), "scaffold=oneshot", "benchmark.tasks=[silu]", "run_id=r")
        while not server.requests:
            time.sleep(0.01)
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
        while not server.requests:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        start = time.monotonic()
        assert cli.stop(process, signal.SIGINT)[0] == 130
        assert time.monotonic() - start < 5
        time.sleep(0.5)
        assert cli.session(process.pid) == []


@pytest.mark.slow
def test_resume_asks_nothing_of_a_run_that_is_over(tmp_path: Path) -> None:
    with WireServer(author.right) as server:
        assert cli.run(*cli.asking(server, tmp_path), "scaffold=oneshot", "benchmark.tasks=[silu]", "run_id=r").returncode == 0
        before = {p: p.read_bytes() for p in tmp_path.rglob("*.jsonl")}
        done = cli.run(f"resume={tmp_path / 'r'}", "concurrency=2")
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 1
        assert {p: p.read_bytes() for p in tmp_path.rglob("*.jsonl")} == before
        assert "quick/silu  pass" in done.stdout
        refused = cli.run(f"resume={tmp_path / 'r'}", "rounds=3")
    assert refused.returncode == 2
    assert "rounds cannot be set with it" in refused.stderr
