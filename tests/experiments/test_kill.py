"""SIGKILL between any two writes of a run, or in the middle of one: resumed, it ends as the undisturbed run, and asks nothing twice."""

import json
import random
import time
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.experiments import author, cli
from tests.experiments.warm import Warm
from tests.servers.wire import WireServer
from tools import jsonl

WORDS = ("scaffold=geak", "rounds=6", "scaffold.correctness=1", "benchmark.tasks=[silu]", "run_id=r", "executor.workers=1")
RUNS, KILLS = 10, 5
"""Fifty points: each run is killed so many times, at other places."""
CREATION = 3
"""Writes that make a run's folder: environment, prices, config."""
NEVER = 0
KILLED = -9
VOLATILE = ("run", "start", "end", "request_id", "reply_sha")


@dataclass
class Whole:
    """The undisturbed run."""

    writes: int
    asked: Counter[str]
    calls: list[dict[str, Any]]
    attempts: list[dict[str, Any]]
    trajectories: list[dict[str, Any]]


def asked(server: WireServer) -> Counter[str]:
    return Counter(json.dumps(request["messages"]) for request in server.requests)


def calls(path: Path) -> list[dict[str, Any]]:
    """All tries by call, without what differs between two equal runs; the text of a reply for its digest, which names the request."""
    made = []
    for line in cli.lines(path, "calls"):
        text = json.loads((path / "replies" / f"{line['reply_sha']}.json").read_text())["text"]
        made.append({**{k: v for k, v in line.items() if k not in VOLATILE}, "text": text})
    return sorted(made, key=lambda line: (line["call_id"], line["try"]))


def trajectories(path: Path) -> list[dict[str, Any]]:
    last = {line["trajectory"]: line for line in cli.lines(path, "trajectories")}
    return [{k: v for k, v in line.items() if k not in VOLATILE} for line in last.values()]


def answered(path: Path) -> set[str]:
    """Requests whose reply is on record."""
    lines = [line for line in jsonl.read(path / "calls.jsonl").records if line["outcome"] == "ok"]
    return {json.dumps(json.loads((path / "prompts" / f"{line['prompt_sha']}.json").read_text())["messages"]) for line in lines}


def gone(pid: int) -> bool:
    """Whether nothing is left of a session, a moment after its leader was killed."""
    until = time.monotonic() + 10
    while cli.session(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not cli.session(pid)


@pytest.fixture(scope="module")
def whole(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    path = tmp_path_factory.mktemp("whole") / "r"
    with WireServer(author.late) as server:
        done = warm.run(*cli.asking(server, path.parent), *WORDS)
    assert done.returncode == 0, done.output
    prompts = asked(server)
    assert set(prompts.values()) == {1}
    assert [a["verdict"] for a in cli.attempts(path)] == ["no_code"] * 8 + ["wrong_numeric"] * 4
    return Whole(done.writes, prompts, calls(path), cli.attempts(path), trajectories(path))


def points(whole: Whole, number: int) -> list[int]:
    """Where the `number`-th run is killed, as writes since its last start. A start finds texts that the last one left, and ends sooner."""
    at = random.Random(number).sample(range(CREATION + 1, whole.writes - 3 * KILLS), KILLS)
    return [after - before for before, after in pairwise([0, *sorted(at)])]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("number", range(RUNS))
def test_a_run_killed_at_random_writes_ends_as_the_undisturbed_run(warm: Warm, whole: Whole, tmp_path: Path, number: int) -> None:
    path = tmp_path / "r"
    with WireServer(author.late) as server:
        words = (*cli.asking(server, tmp_path), *WORDS)
        logged: set[str] = set()
        for kill_at in (*points(whole, number), NEVER):
            server.requests.clear()
            done = warm.run(*words, kill_at=kill_at)
            assert done.returncode == (KILLED if kill_at else 0), done.output
            assert gone(done.pid)
            prompts = asked(server)
            assert set(prompts.values()) <= {1}
            assert not logged & set(prompts), "answered, logged, and asked again"
            assert len(set(prompts) - answered(path)) <= 2, "no more than the two lineages had in flight"
            words, logged = (f"resume={path}",), answered(path)
    assert logged == set(whole.asked)
    assert calls(path) == whole.calls
    assert cli.attempts(path) == whole.attempts
    assert trajectories(path) == whole.trajectories


@pytest.mark.parametrize("kill_at", range(1, CREATION + 1))
def test_a_run_killed_before_it_began_has_asked_nothing_and_says_that_it_cannot_go_on(warm: Warm, tmp_path: Path, kill_at: int) -> None:
    with WireServer(author.late) as server:
        killed = warm.run(*cli.asking(server, tmp_path), *WORDS, kill_at=kill_at)
        assert killed.returncode == KILLED, killed.output
        done = warm.run(f"resume={tmp_path / 'r'}")
    assert done.returncode == 2
    assert "no run directory: it has no config.yaml" in done.output
    assert server.requests == []
