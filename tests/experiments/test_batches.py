"""`model=batch` as a user runs it: starts that end with 75 until the last one, and end where the live run does."""

import json
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agents.caller import Caller
from agents.ledger import Ledger
from agents.models.batch import Batch
from agents.parking import Lot
from experiments import batches
from scaffolds.geak import Config as Geak
from scaffolds.oneshot import Config as Oneshot
from tests.agents.memory import MemoryRecorder
from tests.experiments import author, cli, oracle
from tests.experiments.warm import Warm
from tests.servers.batches import BatchServer

ONESHOT = ["scaffold=oneshot", "benchmark.tasks=[silu]", "run_id=r"]
KILLED_RUN = ["scaffold=geak", "rounds=3", "benchmark.tasks=[silu]", "run_id=r"]
KILLED = -9
PASSES = 12
"""More starts than any run here needs."""


def batched(server: BatchServer, runs: Path, dialect: str = "openai") -> list[str]:
    """The words that send a run to the server's batches."""
    url = server.openai_url if dialect == "openai" else server.anthropic_url
    return ["model=batch", f"model_args.of={dialect}/local", f"model_args.base_url={url}", f"runs_dir={runs}"]


def to_the_end(warm: Warm, run: Path, *words: str) -> int:
    """Starts until one does not wait, and how many that took."""
    for number in range(1, PASSES):
        done = warm.run(*words)
        if done.returncode != 75:
            assert done.returncode == 0, done.output
            return number
        words = (f"resume={run}",)
    raise AssertionError(f"still waiting after {PASSES} starts")


def test_a_run_waits_with_75_and_ends_with_the_replies(warm: Warm, tmp_path: Path) -> None:
    with BatchServer(author.right) as server:
        first = warm.run(*batched(server, tmp_path), *ONESHOT)
        assert first.returncode == 75, first.output
        sentence = first.output.strip().splitlines()[-1]
        assert sentence.startswith("1 request waits for openai/local (batch openai-batch-0)")
        assert f"resume={tmp_path / 'r'}" in sentence
        assert sentence.endswith("a run of oneshot like this one needs at most 1 batch.")
        assert cli.lines(tmp_path / "r", "trajectories")[-1]["end_reason"] == "waiting"

        server.ready = False
        again = warm.run(f"resume={tmp_path / 'r'}")
        assert again.returncode == 75, again.output
        assert "1 request waits" in again.output
        assert len(cli.lines(tmp_path / "r", "trajectories")) == 1

        server.ready = True
        last = warm.run(f"resume={tmp_path / 'r'}")
        assert last.returncode == 0, last.output
        assert "quick/silu  pass" in last.output
        assert len(server.batches) == 1
        (call,) = cli.lines(tmp_path / "r", "calls")
        assert (call["tier"], call["usage_raw"]["completion_tokens"]) == ("batch", server.bill[0].output)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_the_trajectory_is_that_of_a_live_run(warm: Warm, tmp_path: Path, dialect: str) -> None:
    words = ["scaffold=geak", "rounds=3", "benchmark.tasks=[silu]", "run_id=r"]
    with BatchServer(author.wrong_first) as server:
        live = [word.replace("model_args.of", "model") for word in batched(server, tmp_path / "live", dialect)[1:]]
        assert warm.run(*live, *words).returncode == 0
        assert to_the_end(warm, tmp_path / "batch" / "r", *batched(server, tmp_path / "batch", dialect), *words) == 6
        asked = sorted(json.dumps(body, sort_keys=True) for body in server.asked)
        assert asked == sorted(json.dumps(body, sort_keys=True) for body in server.live)
    assert cli.attempts(tmp_path / "batch" / "r") == cli.attempts(tmp_path / "live" / "r")
    assert [t["end_reason"] for t in cli.lines(tmp_path / "batch" / "r", "trajectories")] == [*["waiting"] * 5, "rounds"]


@pytest.mark.slow
def test_a_file_is_answered_by_hand(warm: Warm, tmp_path: Path) -> None:
    run = tmp_path / "r"
    first = warm.run("model=batch", "model_args.of=file", f"runs_dir={tmp_path}", *ONESHOT, "scaffold.samples=2")
    assert first.returncode == 75, first.output
    assert f"2 requests wait for file: answer {run / 'requests.jsonl'} in {run / 'replies.jsonl'}, then continue" in first.output
    names = [json.loads(line)["custom_id"] for line in (run / "requests.jsonl").read_text().splitlines()]
    assert names == ["quick/silu@0/generator/0/0/0#1", "quick/silu@0/generator/0/0/1#1"]

    (run / "replies.jsonl").write_text(json.dumps({"custom_id": names[0], "text": author.fenced(author.WRONG)}) + "\n")
    partly = warm.run(f"resume={run}")
    assert partly.returncode == 75, partly.output
    assert "1 request waits for file" in partly.output
    assert [a["verdict"] for a in cli.attempts(run)] == ["wrong_numeric"]

    with (run / "replies.jsonl").open("a") as file:
        counted = {"text": author.fenced(author.RIGHT), "usage": {"input": 7, "output": 5}}
        file.write(json.dumps({"custom_id": names[1], **counted}) + "\n" + json.dumps({"custom_id": "typo", "text": ""}) + "\n")
    done = warm.run(f"resume={run}")
    assert done.returncode == 0, done.output
    assert [(c["usage_source"], c["model_served"]) for c in cli.lines(run, "calls")] == [("unknown", "by hand"), ("counted", "by hand")]
    assert [a["verdict"] for a in cli.attempts(run)] == ["wrong_numeric", "pass"]


@pytest.mark.slow
def test_ctrl_c_while_evaluating_and_while_waiting_is_clean(warm: Warm, tmp_path: Path) -> None:
    run = tmp_path / "r"
    with BatchServer(author.right) as server:
        server.pause = 2.0
        process = cli.start(*batched(server, tmp_path), *ONESHOT)
        cli.until(process, lambda: "POST /v1/batches" in server.calls)
        code, output = cli.stop(process, signal.SIGINT)
        assert code == 130
        assert "Traceback" not in output
        assert [line["event"] for line in cli.lines(run, "batches")] == ["intended", "submitted"]
        server.pause = 0.0
        assert warm.run(f"resume={run}").returncode == 0
        assert len(server.batches) == 1
        assert cli.session(process.pid) == []


@pytest.mark.slow
def test_sigkill_between_submission_and_record_submits_once(warm: Warm, tmp_path: Path) -> None:
    run = tmp_path / "r"
    with BatchServer(author.right) as server:
        server.pause = 60.0
        process = cli.start(*batched(server, tmp_path), *ONESHOT)
        cli.until(process, lambda: "POST /v1/batches" in server.calls)
        time.sleep(0.2)
        cli.stop(process, signal.SIGKILL)
        assert [line["event"] for line in cli.lines(run, "batches")] == ["intended"]
        server.pause = 0.0
        assert warm.run(f"resume={run}").returncode == 0
        assert len(server.batches) == 1
        assert [call["outcome"] for call in cli.lines(run, "calls")] == ["ok"]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_twenty_trajectories_of_three_rounds_end_in_the_expected_number_of_passes(warm: Warm, tmp_path: Path) -> None:
    words = ["scaffold=geak", "rounds=3", "scaffold.descendants=1", "benchmark.tasks=[silu,gelu,add,fused_add_gelu]", "run_id=r"]
    assert warm.run("model_args.flaws=0.5", f"runs_dir={tmp_path / 'live'}", *words).returncode == 0
    live = tmp_path / "live" / "r"
    with BatchServer(oracle.recorded(live)) as server:
        assert to_the_end(warm, tmp_path / "r", *batched(server, tmp_path), *words, "seed=[0,1,2,3,4]") == 6
        assert len(server.batches) == 5
        assert [len(batch.entries) for batch in server.batches.values()] == [20] * 5
        calls = cli.lines(tmp_path / "r", "calls")
        assert len(calls) == len(server.bill) == 100
        assert sum(sum(call["usage"][kind] for kind in ("input", "output")) for call in calls) == server.billed.total
    for seed in range(5):
        made = [a for a in cli.attempts(tmp_path / "r") if a["seed"] == seed]
        assert [story(a) for a in made] == [story(a) for a in cli.attempts(live)]


def story(attempt: dict[str, Any]) -> list[Any]:
    return [attempt[key] for key in ("task", "attempt", "role", "parents", "verdict", "kernel_sha", "modelled")]


class Unnamed:
    """A scaffold's config that does not say how many batches a run needs."""


@pytest.mark.parametrize(
    ("config", "words"),
    [(Geak(rounds=5), "at most 9 batches"), (Oneshot(samples=8), "at most 1 batch"), (Unnamed(), "a batch for each time that it asks")],
)
async def test_how_many_batches_a_run_needs_is_told_from_its_scaffold(tmp_path: Path, config: Any, words: str) -> None:
    recorder = MemoryRecorder()
    model = Batch({"of": "file"})
    lot = Lot(tmp_path, model, Caller(model, recorder, Ledger()))
    said = batches.sentence(lot, Path("runs/x"), "mine", config)
    lot.close()
    assert said.endswith(f"a run of mine like this one needs {words}.")
    assert "resume=runs/x" in said


@pytest.mark.slow
def test_entries_that_are_refused_stop_nobody_elses_trajectory(warm: Warm, tmp_path: Path) -> None:
    with BatchServer(author.right, lambda number, _: "ok" if number == 0 else "400") as server:
        words = ["scaffold=oneshot", "benchmark.tasks=[silu,gelu,add,sum,softmax,argmax]", "run_id=r"]
        assert warm.run(*batched(server, tmp_path), *words).returncode == 75
        done = warm.run(f"resume={tmp_path / 'r'}")
        assert done.returncode == 4, done.output
        assert "does not answer (bad_request)" in done.output
        assert len(cli.attempts(tmp_path / "r")) == 1
        assert sorted(t["end_reason"] for t in cli.lines(tmp_path / "r", "trajectories")[6:]) == [*["error"] * 5, "rounds"]


@pytest.mark.slow
def test_two_runs_of_one_command_hand_in_a_batch_each(warm: Warm, tmp_path: Path) -> None:
    with BatchServer(author.right) as server:
        words = ["-m", "scaffold=oneshot", "benchmark.tasks=[silu]", "seed=1,2"]
        done = warm.run(*batched(server, tmp_path), *words)
        assert done.returncode == 75, done.output
        assert [len(batch.entries) for batch in server.batches.values()] == [1, 1]
        runs = sorted(path for path in tmp_path.iterdir() if path.is_dir())
        assert [f"resume={run};" in done.output for run in runs] == [True, True]
        assert [warm.run(f"resume={run}").returncode for run in runs] == [0, 0]


@dataclass
class Whole:
    """An undisturbed run."""

    dialect: str
    asked: list[str]
    replies: int
    attempts: list[dict[str, Any]]


@pytest.fixture(scope="module", params=["openai", "anthropic"])
def whole(request: pytest.FixtureRequest, warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    path = tmp_path_factory.mktemp("whole")
    with BatchServer(author.late) as server:
        to_the_end(warm, path / "r", *batched(server, path, request.param), *KILLED_RUN)
    return Whole(request.param, sorted(map(json.dumps, server.asked)), len(server.bill), cli.attempts(path / "r"))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(2))
def test_a_run_killed_at_random_writes_asks_nothing_twice(warm: Warm, whole: Whole, tmp_path: Path, number: int) -> None:
    rng = random.Random(f"{whole.dialect}{number}")
    with BatchServer(author.late) as server:
        words = [*batched(server, tmp_path, whole.dialect), *KILLED_RUN]
        for kill_at in [rng.randrange(4, 12), *(rng.randrange(1, 10) for _ in range(4))]:
            assert warm.run(*words, kill_at=kill_at).returncode in (KILLED, 75, 0)
            words = [f"resume={tmp_path / 'r'}"]
        to_the_end(warm, tmp_path / "r", *words)
        assert sorted(map(json.dumps, server.asked)) == whole.asked
        assert len(cli.lines(tmp_path / "r", "calls")) == len(server.bill) == whole.replies
    assert cli.attempts(tmp_path / "r") == whole.attempts
