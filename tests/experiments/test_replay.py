"""`model=replay` from the command line, and a resumed run that forks: recorded runs go on without a server."""

from pathlib import Path
from typing import Any

import pytest

from tests.experiments import cli
from tests.experiments.warm import Warm
from tests.servers.wire import WireServer

WORDS = ("scaffold=geak", "scaffold.descendants=1", "rounds=3", "prices={openai/local:{input:1,output:1}}")
APART = ("model", "cost_usd")
"""What an attempt of a replay has otherwise."""


@pytest.fixture(scope="module")
def recorded(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on one task, of replies without code, which need no executor."""
    path = tmp_path_factory.mktemp("runs") / "recorded"
    with WireServer(lambda request: f"Let me think {len(str(request))} times.") as server:
        done = warm.run(*cli.asking(server, path.parent), *WORDS, "benchmark.tasks=[silu]", "run_id=recorded")
    assert done.returncode == 0, done.output
    return path


def replay(warm: Warm, recorded: Path, runs: Path, *words: str) -> tuple[int, str, Path]:
    done = warm.run(f"runs_dir={runs}", "run_id=again", *WORDS, "model=replay", f"model_args.source={recorded}", *words)
    assert "Traceback" not in done.output
    return done.returncode, done.output, runs / "again"


def attempts(run: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in a.items() if k not in APART} for a in cli.attempts(run)]


def test_a_replayed_run_is_the_recorded_one_at_no_cost(warm: Warm, recorded: Path, tmp_path: Path) -> None:
    code, output, run = replay(warm, recorded, tmp_path, "benchmark.tasks=[silu]", "budget.usd=0.000001")
    assert code == 0, output
    assert attempts(run) == attempts(recorded)
    lines, before = cli.lines(run, "calls"), cli.lines(recorded, "calls")
    assert [line["replayed"]["cost_usd"] for line in lines] == [line["cost_usd"] for line in before]
    assert [line["usage"] for line in lines] == [line["usage"] for line in before]
    assert {line["cost_usd"] for line in lines} == {0.0}
    assert "$0.00" in output


def test_a_task_without_a_recording_ends_with_a_sentence_and_the_others_go_on(warm: Warm, recorded: Path, tmp_path: Path) -> None:
    code, output, run = replay(warm, recorded, tmp_path, "benchmark.tasks=[add,silu]")
    assert code == 4
    ended = {t["task"]: t for t in cli.lines(run, "trajectories")}
    assert ended["quick/silu"]["end_reason"] == "rounds"
    assert ended["quick/add"]["end_reason"] == "error"
    assert "No recording of quick/add@0/generator/0/0/0 (generator, round 0) in " in ended["quick/add"]["error"]
    assert ended["quick/add"]["error"] in output
    (line,) = [line for line in cli.lines(run, "calls") if line["outcome"] == "unrecorded"]
    assert line["replayed"]["nearest"]["call_id"].startswith("quick/silu@0/generator/")


def test_more_rounds_change_the_prompts_and_identities_still_match_as_far_as_they_go(warm: Warm, recorded: Path, tmp_path: Path) -> None:
    code, output, run = replay(warm, recorded, tmp_path / "strict", "benchmark.tasks=[silu]", "rounds=4")
    assert code == 4
    assert "another request (+1 -1 of " in output
    assert cli.lines(run, "attempts") == []
    code, output, run = replay(warm, recorded, tmp_path, "benchmark.tasks=[silu]", "rounds=4", "model_args.match=identity")
    assert code == 4
    matches = [line["replayed"]["match"] for line in cli.lines(run, "calls")]
    assert matches == ["identity", "identity", "identity", None]
    assert [a["parse"] for a in cli.attempts(run)] == [a["parse"] for a in cli.attempts(recorded)]


def test_a_run_with_changed_options_stops_when_resumed_or_goes_on_as_a_fork(warm: Warm, tmp_path: Path) -> None:
    path = tmp_path / "r"
    with WireServer(lambda request: "Let me think.") as server:
        words = (*cli.asking(server, tmp_path), *WORDS, "benchmark.tasks=[silu]", "run_id=r")
        assert warm.run(*words, kill_at=13).returncode < 0
        asked = len(server.requests)
        config = path / "config.yaml"
        config.write_text(config.read_text().replace("  rounds: 3", "  rounds: 4"))
        stopped = warm.run(f"resume={path}")
        assert stopped.returncode == 2
        assert "diverged at generator/0" in stopped.output
        assert "resume.on_divergence=fork" in stopped.output
        assert len(server.requests) == asked
        done = warm.run(f"resume={path}", "resume.on_divergence=fork")
        assert done.returncode == 0, done.output
        assert len(server.requests) == asked + 4
    assert "generator/0 differs from what is on record: on under fork 1" in done.output
    assert [a["attempt"] for a in cli.attempts(path)][:2] == ["000.00.00", "000.00.00.f1"]
    assert cli.lines(path, "trajectories")[-1]["end_reason"] == "rounds"
