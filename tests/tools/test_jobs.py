"""The batch door, by the files that it reads and writes."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from benchmark.errors import UserError
from benchmark.suites import find
from tools import evaluate, jobs, jsonl
from tools.evaluation import Evaluation
from tools.executor.stages.course import sha
from tools.settings import Settings

ROOT = Path(__file__).parents[2]
GOOD = (ROOT / "tests/tools/candidates/honest/silu.py").read_text()
BAD = "x = ("
ENDLESS = "while True: pass"


def job(name: object, candidate: object = BAD, task: object = "quick/silu") -> dict[str, Any]:
    return {"id": name, "task": task, "candidate": candidate}


def written(folder: Path, *lines: object) -> Path:
    path = folder / "jobs.jsonl"
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def results(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]


def run(folder: Path, *flags: str) -> int:
    command = ["--jobs", str(folder / "jobs.jsonl"), "--out", str(folder / "out.jsonl"), "--device", "simulated", "--workers", "1"]
    return evaluate.main([*command, *flags])


def started(folder: Path) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "tools.evaluate",
        "--jobs",
        "jobs.jsonl",
        "--out",
        "out.jsonl",
        "--device",
        "simulated",
        "--workers",
        "1",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True)


class Stub:
    """An executor that counts, and answers at once."""

    def __init__(self, environment: str = "here", fails: type[Exception] | None = None, verdict: str = "pass"):
        self.workers = [None]
        self.place, self.fails, self.verdict = environment, fails, verdict
        self.asked: list[str] = []

    async def environment(self, settings: Settings) -> str:
        return self.place

    async def evaluate(self, candidate: str, task: Any, settings: Settings) -> Evaluation:
        self.asked.append(candidate)
        if self.fails and candidate == BAD:
            raise self.fails("no")
        return Evaluation(sha(candidate), task.id, task.sha, self.place, settings.sha, verdict=self.verdict)


def batch(folder: Path, stub: Stub, settings: Settings | None = None) -> jobs.Batch:
    made = jobs.Batch(jobs.Results(folder / "out.jsonl"), settings or Settings())
    try:
        asyncio.run(made.run(list(jobs.read(folder / "jobs.jsonl")), stub))
    finally:
        made.results.lines.close()
    return made


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], int]:
    """Results of a file with jobs of all kinds, and the exit code."""
    folder = tmp_path_factory.mktemp("answered")
    written(folder, job("a", GOOD), "{broken", job(7), [], job("b", task="quick/sliu"), job("c", 3), job("a"), "", {"task": "quick/silu"})
    code = run(folder)
    return results(folder), code


def test_each_job_has_its_result_and_a_broken_line_spoils_no_other(answered):
    records, code = answered
    assert code == 0
    assert len(records) == 8
    found = {record.get("id", f"line {record.get('line')}"): record for record in records}
    verdicts = {name: record["evaluation"]["verdict"] for name, record in found.items() if "evaluation" in record}
    assert verdicts == {"a": "pass", 7: "syntax_error"}
    assert "not JSON" in found["line 2"]["error"]
    assert "must be an object" in found["line 4"]["error"]
    assert "Did you mean 'quick/silu'" in found["b"]["error"]
    assert 'no text as its "candidate"' in found["c"]["error"]
    assert "the id 'a' of line 1" in found["line 7"]["error"]
    assert "line 9" in found["line 9"]["error"]


def test_result_is_the_evaluation_as_a_client_sees_it(answered):
    record = next(record for record in answered[0] if record.get("id") == "a")
    assert set(record) == {"id", "evaluation"}
    assert not any(case["held_out"] for case in record["evaluation"]["cases"])
    assert record["evaluation"]["no_timing"]
    assert Evaluation.from_dict(record["evaluation"]).candidate_sha == sha(GOOD)


def test_killed_in_the_middle_it_goes_on_and_evaluates_nothing_twice(tmp_path):
    written(tmp_path, job("a"), job("b", ENDLESS), job("c", GOOD))
    first = started(tmp_path)
    out, deadline = tmp_path / "out.jsonl", time.monotonic() + 60
    while not (out.exists() and out.read_bytes().endswith(b"}\n")) and time.monotonic() < deadline:
        time.sleep(0.05)
    first.kill()
    first.wait()
    assert [record["id"] for record in results(tmp_path)] == ["a"]
    whole = out.read_bytes()
    out.write_bytes(whole + whole[:100])
    written(tmp_path, job("a"), job("c", GOOD))
    second = started(tmp_path)
    said = second.communicate(timeout=60)[1]
    assert second.returncode == 0
    assert "dropped a torn last line (100 bytes)" in said
    assert "1 of 2 lines have their result already" in said
    assert [(record["id"], record["evaluation"]["verdict"]) for record in results(tmp_path)] == [("a", "syntax_error"), ("c", "pass")]


def test_interrupt_ends_cleanly_and_says_how_to_go_on(tmp_path):
    written(tmp_path, job("a"), job("b", ENDLESS))
    process = started(tmp_path)
    for line in process.stderr:
        if line.startswith("1/2"):
            break
    process.send_signal(signal.SIGINT)
    rest = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert "Interrupted with 1 of 2 lines done; the same command goes on from here." in rest
    assert "Traceback" not in rest
    assert [record["id"] for record in results(tmp_path)] == ["a"]


def test_second_start_evaluates_only_what_is_missing(tmp_path):
    written(tmp_path, job("a"), job("b", GOOD))
    batch(tmp_path, Stub())
    written(tmp_path, job("a"), job("b", GOOD), job("c", "x"))
    again = Stub()
    assert batch(tmp_path, again).done == 3
    assert again.asked == ["x"]
    assert [record["id"] for record in results(tmp_path)] == ["a", "b", "c"]


@pytest.mark.parametrize("changed", ["settings", "environment", "candidate", "task"])
def test_whatever_a_verdict_depends_on_is_evaluated_anew(tmp_path, changed):
    written(tmp_path, job("a"))
    batch(tmp_path, Stub())
    written(tmp_path, job("a", GOOD if changed == "candidate" else BAD, "quick/gelu" if changed == "task" else "quick/silu"))
    again = Stub("elsewhere" if changed == "environment" else "here")
    batch(tmp_path, again, Settings(seed=1) if changed == "settings" else None)
    assert len(again.asked) == 1
    assert [record["id"] for record in results(tmp_path)] == ["a", "a"]


def test_jobs_that_are_alike_are_evaluated_once_and_each_has_its_line(tmp_path):
    written(tmp_path, job("a"), job("b"), job("c", GOOD))
    stub = Stub()
    batch(tmp_path, stub)
    written(tmp_path, job("d", GOOD))
    batch(tmp_path, stub)
    assert sorted(stub.asked) == sorted([BAD, GOOD])
    assert [record["id"] for record in results(tmp_path)] == ["a", "b", "c", "d"]


def test_verdict_that_is_our_own_doing_is_tried_again(tmp_path):
    written(tmp_path, job("a"))
    batch(tmp_path, Stub(verdict="infra_error"))
    batch(tmp_path, Stub())
    assert [record["evaluation"]["verdict"] for record in results(tmp_path)] == ["infra_error", "pass"]


@pytest.mark.parametrize(("error", "faults"), [(UserError, 0), (RuntimeError, 1)])
def test_job_that_cannot_be_evaluated_has_an_error_and_the_others_their_results(tmp_path, error, faults):
    written(tmp_path, job("a"), job("b", GOOD))
    assert batch(tmp_path, Stub(fails=error)).faults == faults
    first, second = results(tmp_path)
    assert (first["id"], "no" in first["error"]) == ("a", True)
    assert second["evaluation"]["verdict"] == "pass"


def test_errors_are_written_once(tmp_path):
    written(tmp_path, "{broken", job("a", task="none"))
    for _ in range(2):
        batch(tmp_path, Stub())
    assert len(results(tmp_path)) == 2


def test_two_processes_do_not_share_a_file(tmp_path):
    held = jobs.Results(tmp_path / "out.jsonl")
    with pytest.raises(UserError, match="Another process"):
        jobs.Results(tmp_path / "out.jsonl")
    held.lines.close()


def test_file_that_holds_something_else_is_left_alone(tmp_path):
    path = written(tmp_path, job("a"), job("b"))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    before = path.read_bytes()
    with pytest.raises(UserError, match="line 1 is no result"):
        jobs.Results(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--jobs", "/nowhere/jobs.jsonl"), "Cannot read the jobs"),
        (("--out", "/nowhere/out.jsonl"), "Cannot write the results"),
        (("--device", "abacus"), "Unknown device 'abacus'"),
    ],
)
def test_mistake_of_the_users_exits_2_with_one_sentence(tmp_path, capsys, flags, words):
    written(tmp_path, job("a"))
    assert run(tmp_path, *flags) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


def test_results_are_durable_lines_of_strict_json(tmp_path):
    record = Evaluation("sha", "quick/silu", find("quick/silu").sha, "here", Settings().sha, verdict="pass")
    record.resources = {"wall_s": float("nan")}
    made = jobs.Results(tmp_path / "out.jsonl")
    made.add({"id": "a\udc80", "evaluation": record.public()})
    made.lines.close()
    (line,) = jsonl.read(tmp_path / "out.jsonl").records
    assert (line["id"], line["evaluation"]["resources"]) == ("a\udc80", {"wall_s": None})
