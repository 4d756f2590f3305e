"""`model=batch` as a user runs it: starts that end with 75 until the last one, and end where the live run does."""

import json
import signal
import time
from pathlib import Path

import pytest

from tests.experiments import author, cli
from tests.servers.batches import BatchServer

ONESHOT = ["scaffold=oneshot", "benchmark.tasks=[silu]", "run_id=r"]
PASSES = 12
"""More starts than any run here needs."""


def batched(server: BatchServer, runs: Path, dialect: str = "openai") -> list[str]:
    """The words that send a run to the server's batches."""
    url = server.openai_url if dialect == "openai" else server.anthropic_url
    return ["model=batch", f"model_args.of={dialect}/local", f"model_args.base_url={url}", f"runs_dir={runs}"]


def to_the_end(run: Path, *words: str) -> int:
    """Starts until one does not wait, and how many that took."""
    for number in range(1, PASSES):
        done = cli.run(*words)
        if done.returncode != 75:
            assert done.returncode == 0, done.stderr
            return number
        words = (f"resume={run}",)
    raise AssertionError(f"still waiting after {PASSES} starts")


def test_a_run_waits_with_75_and_ends_with_the_replies(tmp_path: Path) -> None:
    with BatchServer(author.right) as server:
        first = cli.run(*batched(server, tmp_path), *ONESHOT)
        assert first.returncode == 75, first.stderr
        sentence = first.stdout.strip().splitlines()[-1]
        assert sentence.startswith("1 request waits for openai/local (batch openai-batch-0)")
        assert f"resume={tmp_path / 'r'}" in sentence
        assert sentence.endswith("a run of oneshot like this one needs at most 1 batch.")
        assert cli.lines(tmp_path / "r", "trajectories")[-1]["end_reason"] == "waiting"

        server.ready = False
        start = time.monotonic()
        again = cli.run(f"resume={tmp_path / 'r'}")
        assert again.returncode == 75, again.stderr
        assert "1 request waits" in again.stdout
        assert len(cli.lines(tmp_path / "r", "trajectories")) == 1
        assert time.monotonic() - start < 30

        server.ready = True
        last = cli.run(f"resume={tmp_path / 'r'}")
        assert last.returncode == 0, last.stderr
        assert "quick/silu  pass" in last.stdout
        assert len(server.batches) == 1
        (call,) = cli.lines(tmp_path / "r", "calls")
        assert (call["tier"], call["usage_raw"]["completion_tokens"]) == ("batch", server.bill[0].output)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_the_trajectory_is_that_of_a_live_run(tmp_path: Path, dialect: str) -> None:
    words = ["scaffold=geak", "rounds=3", "benchmark.tasks=[silu]", "run_id=r"]
    with BatchServer(author.wrong_first) as server:
        live = [word.replace("model_args.of", "model") for word in batched(server, tmp_path / "live", dialect)[1:]]
        assert cli.run(*live, *words).returncode == 0
        assert to_the_end(tmp_path / "batch" / "r", *batched(server, tmp_path / "batch", dialect), *words) == 6
        asked = sorted(json.dumps(body, sort_keys=True) for body in server.asked)
        assert asked == sorted(json.dumps(body, sort_keys=True) for body in server.live)
    assert cli.attempts(tmp_path / "batch" / "r") == cli.attempts(tmp_path / "live" / "r")
    assert [t["end_reason"] for t in cli.lines(tmp_path / "batch" / "r", "trajectories")] == [*["waiting"] * 5, "rounds"]


@pytest.mark.slow
def test_a_file_is_answered_by_hand(tmp_path: Path) -> None:
    run = tmp_path / "r"
    first = cli.run("model=batch", "model_args.of=file", f"runs_dir={tmp_path}", *ONESHOT, "scaffold.samples=2")
    assert first.returncode == 75, first.stderr
    assert f"2 requests wait for file: answer {run / 'requests.jsonl'} in {run / 'replies.jsonl'}, then continue" in first.stdout
    names = [json.loads(line)["custom_id"] for line in (run / "requests.jsonl").read_text().splitlines()]
    assert names == ["quick/silu@0/generator/0/0/0#1", "quick/silu@0/generator/0/0/1#1"]

    (run / "replies.jsonl").write_text(json.dumps({"custom_id": names[0], "text": author.fenced(author.WRONG)}) + "\n")
    partly = cli.run(f"resume={run}")
    assert partly.returncode == 75, partly.stderr
    assert "1 request waits for file" in partly.stdout
    assert [a["verdict"] for a in cli.attempts(run)] == ["wrong_numeric"]

    with (run / "replies.jsonl").open("a") as file:
        counted = {"text": author.fenced(author.RIGHT), "usage": {"input": 7, "output": 5}}
        file.write(json.dumps({"custom_id": names[1], **counted}) + "\n" + json.dumps({"custom_id": "typo", "text": ""}) + "\n")
    done = cli.run(f"resume={run}")
    assert done.returncode == 0, done.stderr
    assert [(c["usage_source"], c["model_served"]) for c in cli.lines(run, "calls")] == [("unknown", "by hand"), ("counted", "by hand")]
    assert [a["verdict"] for a in cli.attempts(run)] == ["wrong_numeric", "pass"]


@pytest.mark.slow
def test_ctrl_c_while_evaluating_and_while_waiting_is_clean(tmp_path: Path) -> None:
    run = tmp_path / "r"
    with BatchServer(author.right) as server:
        server.pause = 2.0
        process = cli.start(*batched(server, tmp_path), *ONESHOT)
        while "POST /v1/batches" not in server.calls:
            time.sleep(0.01)
        code, output = cli.stop(process, signal.SIGINT)
        assert code == 130
        assert "Traceback" not in output
        assert [line["event"] for line in cli.lines(run, "batches")] == ["intended", "submitted"]
        server.pause = 0.0
        assert cli.run(f"resume={run}").returncode == 0
        assert len(server.batches) == 1
        assert cli.session(process.pid) == []


@pytest.mark.slow
def test_sigkill_between_submission_and_record_submits_once(tmp_path: Path) -> None:
    run = tmp_path / "r"
    with BatchServer(author.right) as server:
        server.pause = 60.0
        process = cli.start(*batched(server, tmp_path), *ONESHOT)
        while "POST /v1/batches" not in server.calls:
            time.sleep(0.01)
        time.sleep(0.2)
        cli.stop(process, signal.SIGKILL)
        assert [line["event"] for line in cli.lines(run, "batches")] == ["intended"]
        server.pause = 0.0
        assert cli.run(f"resume={run}").returncode == 0
        assert len(server.batches) == 1
        assert [call["outcome"] for call in cli.lines(run, "calls")] == ["ok"]
