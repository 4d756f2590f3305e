"""The command itself: what it refuses before it starts, what it shows, and what it leaves behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import prompts
from experiments.runs import Run
from tests.experiments import author, cli
from tests.servers.wire import Fault, WireServer

SILU = ["scaffold=oneshot", "benchmark.tasks=[silu]"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scaffold=gaek"], "Unknown scaffold 'gaek'. Did you mean 'geak'?"),
        (["rnds=3"], "Unknown key 'rnds'. Did you mean 'rounds'?"),
        (["+typo=3"], "Unknown key 'typo'."),
        pytest.param(
            ["scaffold=oneshot", "scaffold.sample=3"],
            "Unknown key 'scaffold.sample'. Did you mean 'scaffold.samples'?",
            marks=pytest.mark.slow,
        ),
        pytest.param(["executor.wrkers=3"], "Did you mean 'executor.workers'?", marks=pytest.mark.slow),
        (["--rounds", "3"], "Cannot read the command line (unrecognized arguments: --rounds): write key=value"),
        pytest.param(["budget=3"], "budget is a group of keys", marks=pytest.mark.slow),
        pytest.param(["rounds=x"], "rounds must be a whole number or null, not 'x'.", marks=pytest.mark.slow),
        pytest.param(["benchmark.tasks=[softmxa]"], "Did you mean 'softmax'?", marks=pytest.mark.slow),
        (["task=./nowhere.py:f"], "There is no file './nowhere.py'"),
        pytest.param(["model=templtes"], "Did you mean 'templates'?", marks=pytest.mark.slow),
        (["model=openai/gpt-5"], "Set OPENAI_API_KEY"),
        (["model=openai/x", "model_args.base_ur=http://localhost/v1"], "Did you mean 'base_url'?"),
        (["resume=experiments"], "experiments is no run directory"),
        (["executor.device=tpu", "model=openai/x", "model_args.base_url=http://localhost:9/v1"], "Choose one of: auto, simulated"),
    ],
)
def test_a_mistake_is_one_sentence_and_nothing_is_made(words: list[str], message: str, tmp_path: Path) -> None:
    done = cli.run(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["-m", "+typo=3", "seed=1,2"], "Unknown key 'typo'.", marks=pytest.mark.slow),
        (["seed=1,2", "-m", "scaffold=oneshot,gaek"], "Unknown scaffold 'gaek'."),
        pytest.param(["-m", "rounds=2,x"], "rounds must be a whole number", marks=pytest.mark.slow),
        (["-m", "model=openai/a,openai/b", "model_args={}"], "Set OPENAI_API_KEY"),
        (["-m", "budget.tokens=1,2", "model=openai/x", "model_args.base_url=http://localhost:9/v1"], "share one budget"),
    ],
)
def test_a_multirun_fails_before_its_first_job(words: list[str], message: str, tmp_path: Path) -> None:
    done = cli.run(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [[], *([f"scaffold={name}"] for name in ("evolve", "geak", "multiagent", "oneshot"))])
def test_help_is_fast_and_imports_nothing_heavy(words: list[str]) -> None:
    heavy = {"torch", "langgraph", "litellm", "openai", "anthropic"}
    code = (
        f"import sys; sys.argv = ['run', *{words}, '--help']; from experiments import run; assert run.main() == 0; "
        f"assert not {heavy} & set(sys.modules)"
    )
    start = os.times()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=cli.ROOT)
    assert os.times().children_user - start.children_user < 0.6
    assert done.returncode == 0, done.stderr
    for word in ("geak", "oneshot", "quick", "resume=", "exit codes"):
        assert word in done.stdout


@pytest.mark.parametrize("words", [["--help"], ["--cfg", "job"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_who_leaves_is_no_error(words: list[str], unbuffered: str, tmp_path: Path) -> None:
    assert cli.unread(*cli.command(*words), env={"PYTHONUNBUFFERED": unbuffered}) == (0, "")


@pytest.mark.slow
def test_a_run_goes_on_when_nobody_reads_it_any_more(tmp_path: Path) -> None:
    with WireServer(author.right) as server:
        assert cli.unread(*cli.command(*cli.asking(server, tmp_path), *SILU, "run_id=r"), both=True)[0] == 0
    assert cli.lines(tmp_path / "r", "trajectories")[0]["end_reason"] == "solved"


def test_showing_the_config_starts_nothing(tmp_path: Path) -> None:
    done = cli.run("scaffold=geak", "--cfg", "job", cwd=tmp_path)
    assert done.returncode == 0
    assert yaml.safe_load(done.stdout)["benchmark"]["suite"] == "quick"
    assert list(tmp_path.iterdir()) == []


def test_a_run_leaves_its_records_and_the_best_kernel(tmp_path: Path) -> None:
    with WireServer(author.right) as server:
        done = cli.run(*cli.asking(server, Path("runs")), *SILU, "run_id=r", cwd=tmp_path, env={"PLANTED_API_KEY": "sk-planted-secret"})
    assert done.returncode == 0, done.stderr
    path = tmp_path / "runs" / "r"
    assert [p.name for p in tmp_path.iterdir()] == ["runs"]
    (attempt,) = cli.lines(path, "attempts")
    assert (attempt["verdict"], attempt["compiled"], attempt["task"], attempt["round"]) == ("pass", True, "quick/silu", 0)
    assert (path / "best" / "quick" / "silu.py").read_text() == (path / "kernels" / f"{attempt['kernel_sha']}.py").read_text()
    assert "runs/r/best/quick/silu.py" in done.stdout
    assert attempt["tokens"] == server.billed.total
    assert cli.lines(path, "trajectories")[0]["end_reason"] == "solved"
    assert Run(path).asked == [("quick/silu", 0)]
    assert all(
        "schema_version" in line for name in ("attempts", "calls", "evaluations", "trajectories", "log") for line in cli.lines(path, name)
    )
    assert all(json.loads((path / name).read_text())["schema_version"] for name in ("environment.json", "prices.json"))
    templates = json.loads((path / "environment.json").read_text())["templates"]
    assert templates["generator"] == prompts.sha("generator")
    assert [line["templates"] for line in cli.lines(path, "log") if line["event"] == "start"] == [templates]
    assert not [p for p in path.rglob("*") if p.is_file() and b"sk-planted-secret" in p.read_bytes()]


@pytest.mark.slow
def test_the_saved_config_runs_again_as_it_is(tmp_path: Path) -> None:
    with WireServer(author.right) as server:
        assert cli.run(*cli.asking(server, tmp_path), *SILU, "scaffold.samples=2", "seed=7", "run_id=first").returncode == 0
        again = cli.run("--config-path", str(tmp_path / "first"), "--config-name", "config", "run_id=second")
    assert again.returncode == 0, again.stderr
    assert [a["seed"] for a in cli.attempts(tmp_path / "second")] == [7, 7]
    first, second = ((tmp_path / name / "config.yaml").read_text().partition("\n")[2] for name in ("first", "second"))
    assert first == second


def test_an_existing_run_directory_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    done = cli.run("model=openai/x", "model_args.base_url=http://localhost:9/v1", f"runs_dir={tmp_path}", "run_id=r", *SILU)
    assert done.returncode == 2
    assert f"Continue it with resume={tmp_path / 'r'}" in done.stderr
    assert list((tmp_path / "r").iterdir()) == []


def test_a_refused_key_stops_the_run_at_the_first_call(tmp_path: Path) -> None:
    with WireServer(author.right, faults=lambda number, request: Fault("status", 401, "bad key")) as server:
        done = cli.run(*cli.asking(server, tmp_path), *SILU, "benchmark.tasks=null", "run_id=r", "concurrency=1")
        assert len(server.requests) == 1
    assert done.returncode == 2
    assert "does not answer (auth)" in done.stderr
    assert "Traceback" not in done.stderr
    assert cli.lines(tmp_path / "r", "attempts") == []


@pytest.mark.slow
def test_a_model_that_goes_away_is_nobodys_failure_and_the_run_goes_on_when_it_is_back(tmp_path: Path) -> None:
    words = ["scaffold=geak", "rounds=2", "scaffold.descendants=1", "benchmark.tasks=[silu]"]
    with WireServer(author.always_wrong) as server:
        assert cli.run(*cli.asking(server, tmp_path), *words, "run_id=whole").returncode == 0
        asked = len(server.requests)
    gone = True
    with WireServer(
        author.always_wrong, lambda number, _: Fault("status", 400, "no such model") if gone and number >= 2 else None
    ) as server:
        done = cli.run(*cli.asking(server, tmp_path), *words, "run_id=r")
        assert done.returncode == 4, done.stderr
        assert done.stderr.splitlines()[-1].startswith("openai/local does not answer (bad_request). openai/local: HTTP 400: no such model")
        assert f"resume={tmp_path / 'r'}" in done.stdout
        assert [line["verdict"] for line in cli.attempts(tmp_path / "r")] == ["wrong_numeric"]
        assert [line["end_reason"] for line in cli.lines(tmp_path / "r", "trajectories")] == ["error"]
        gone = False
        again = cli.run(f"resume={tmp_path / 'r'}")
        assert len(server.requests) == asked + 1
    assert again.returncode == 0, again.stderr
    assert cli.attempts(tmp_path / "r") == cli.attempts(tmp_path / "whole")


@pytest.mark.slow
def test_many_runs_share_one_event_loop_and_each_has_its_directory(tmp_path: Path) -> None:
    with WireServer(author.right) as server:
        done = cli.run("-m", *cli.asking(server, tmp_path), *SILU, "seed=1,2")
    assert done.returncode == 0, done.stderr
    runs = sorted(tmp_path.iterdir())
    assert [cli.lines(run, "attempts")[0]["seed"] for run in runs] == [1, 2]
    assert [len(cli.lines(run, "calls")) for run in runs] == [1, 1]


@pytest.mark.slow
def test_a_token_budget_of_many_runs_is_one_budget(tmp_path: Path) -> None:
    with WireServer(author.always_wrong) as server:
        done = cli.run("-m", *cli.asking(server, tmp_path), "model_args.max_tokens=500", *SILU, "seed=1,2,3", "budget.tokens=12000")
        assert server.billed.total <= 12000
        assert 0 < len(server.requests) < 3
    assert done.returncode == 0, done.stderr
    reasons = [cli.lines(run, "trajectories")[0]["end_reason"] for run in sorted(tmp_path.iterdir())]
    assert "budget" in reasons


@pytest.mark.slow
def test_strange_replies_are_verdicts(tmp_path: Path) -> None:
    texts = [
        "no code at all",
        author.right({}) * 2,
        author.fenced(author.RIGHT + "# \ud800\n"),
        "x" * 2_000_000,
        "",
        "```python\nimport os\n```",
    ]
    with WireServer(lambda request: texts.pop()) as server:
        done = cli.run(*cli.asking(server, tmp_path), *SILU, "scaffold.samples=6", "run_id=r")
    assert done.returncode == 0, done.stderr
    verdicts = sorted(a["verdict"] for a in cli.lines(tmp_path / "r", "attempts"))
    assert len(verdicts) == 6
    assert set(verdicts) <= {"no_code", "pass", "missing_entry", "syntax_error"}
    assert verdicts.count("no_code") >= 3


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="needs the right to mount a small file system")
def test_a_full_disk_is_a_sentence_and_the_run_goes_on_from_it(tmp_path: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", tmp_path], check=True)
    try:
        with WireServer(author.always_wrong) as server:
            words = [*cli.asking(server, tmp_path), *SILU, "scaffold.samples=6", "run_id=r"]
            done = cli.run(*words)
            assert done.returncode == 2
            assert "No space left on device" in done.stderr
            assert "Traceback" not in done.stderr
            subprocess.run(["mount", "-o", "remount,size=8m", tmp_path], check=True)
            again = cli.run(f"resume={tmp_path / 'r'}")
        assert again.returncode == 0, again.stderr
        assert len(cli.lines(tmp_path / "r", "attempts")) == 6
        assert len({line["call_id"] for line in cli.lines(tmp_path / "r", "calls")}) == 6
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)
