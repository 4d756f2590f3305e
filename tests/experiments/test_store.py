"""The run store: what is written is there after a kill, and is found by its identity."""

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from agents.journal import Journal
from agents.models.base import OUTAGES, Identity
from benchmark.errors import UserError
from experiments.store import RunStore
from tests.experiments import records
from tools.evaluation import CaseResult, Evaluation, Failure, TimedSize, Timing

IDENTITY = Identity("quick/add@0", "evaluation", 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "r"


def create(path: Path) -> RunStore:
    return RunStore.create(path, "seed: 0\n", {"asked": {"tasks": {"quick/add": {}}, "seeds": [0]}}, {"models": {}})


def reopen(store: RunStore) -> RunStore:
    store.close()
    return RunStore(store.path)


def lines(path: Path, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (path / f"{name}.jsonl").read_text().splitlines()]


async def test_a_call_comes_back_by_its_identity(path: Path) -> None:
    store = create(path)
    record = records.call()
    await store.write_call(record)
    store = reopen(store)
    assert store.recorded_call(record.identity) == record
    assert store.recorded_tries(record.identity) == 1
    assert store.recorded_call(Identity("quick/add@1", "generator", 0)) is None


async def test_the_field_is_named_try_in_the_file(path: Path) -> None:
    store = create(path)
    await store.write_call(records.call(try_=3))
    assert lines(path, "calls")[0]["try"] == 3
    assert "try_" not in lines(path, "calls")[0]


async def test_an_evaluation_comes_back_with_all_its_evidence(path: Path) -> None:
    timing = Timing("eager", [TimedSize("s", 2.0, 1.0, 2.0, [1.9, 2.1])], 2.0, [1.9, 2.1])
    failure, case = Failure("wrong_numeric", "off", {"max": 1.5}), CaseResult("odd", True, False, worst_index=[1, 2])
    evaluation = Evaluation("sha", "quick/add", verdict="wrong_numeric", error=failure, cases=[case], timing=timing)
    store = create(path)
    await store.write_evaluation(IDENTITY, evaluation)
    assert store.evaluation(IDENTITY) == evaluation
    store = reopen(store)
    assert store.recorded_evaluation(IDENTITY) == evaluation


async def test_a_choice_comes_back_and_is_taken_over_by_a_replay(path: Path) -> None:
    store = create(path)
    await store.write_choice(IDENTITY, [{"task": "quick/gelu", "source": "x"}])
    store = reopen(store)
    assert store.recorded_choice(IDENTITY) == [{"task": "quick/gelu", "source": "x"}]
    assert store.recorded_choice(Identity("quick/add@1", "evaluation", 0)) is None
    again = create(path.with_name("again"))
    own = Identity("quick/add@1", "examples", 0)
    await store.write_choice(own, ["theirs"])
    await again.write_choice(own, ["ours"])
    again.adopt(Journal(path))
    again = reopen(again)
    assert [again.recorded_choice(identity) for identity in (IDENTITY, own)] == [[{"task": "quick/gelu", "source": "x"}], ["ours"]]


async def test_an_attempt_is_written_once(path: Path) -> None:
    store = create(path)
    await store.write_attempt(records.attempt())
    store = reopen(store)
    await store.write_attempt(records.attempt(wall_s=9.0))
    assert [line["wall_s"] for line in lines(path, "attempts")] == [1.0]


@pytest.mark.parametrize(
    ("outcome", "final"), [*((outcome, True) for outcome in sorted(OUTAGES)), ("cancelled", False), ("timeout", False)]
)
async def test_a_call_that_was_never_answered_is_asked_again(path: Path, outcome: str, final: bool) -> None:
    store = create(path)
    record = records.call(outcome=outcome, final=final, reply_sha=None)
    await store.write_call(record)
    store = reopen(store)
    assert store.recorded_call(record.identity) is None
    assert store.recorded_tries(record.identity) == 1


@pytest.mark.parametrize("outcome", ["timeout", "cut_stream", "context_overflow", "refused"])
async def test_a_failure_of_the_model_stands(path: Path, outcome: str) -> None:
    store = create(path)
    failed = records.call(outcome=outcome, reply_sha=None)
    await store.write_call(failed)
    assert reopen(store).recorded_call(failed.identity) == failed


async def test_the_reply_to_a_later_try_settles_a_call(path: Path) -> None:
    store = create(path)
    await store.write_call(records.call(outcome="429", final=False, reply_sha=None))
    answered = records.call(try_=2)
    await store.write_call(answered)
    await store.write_evaluation(IDENTITY, Evaluation("sha", "quick/add"))
    store = reopen(store)
    assert store.recorded_call(answered.identity) == answered
    assert store.recorded_tries(answered.identity) == 2


def test_texts_with_lone_surrogates_and_any_unicode_come_back(path: Path) -> None:
    store = create(path)
    text = "x = '\udcff\u2028\x00'\n"
    assert store.kernel(store.put_kernel(text)) == text
    assert store.reply(store.put_reply({"text": text, "usage": None})) == {"text": text, "usage": None}


async def test_a_torn_last_line_is_dropped_and_said(path: Path) -> None:
    store = create(path)
    await store.write_call(records.call())
    await store.write_call(records.call(round=1))
    store.close()
    file = path / "calls.jsonl"
    file.write_bytes(file.read_bytes()[:-40])
    torn = len(file.read_bytes().split(b"\n")[-1])
    store = RunStore(path)
    assert store.torn == {"calls.jsonl": torn}
    assert store.recorded_call(records.call(round=1).identity) is None
    await store.write_call(records.call(round=2))
    assert [line["identity"]["round"] for line in lines(path, "calls")] == [0, 2]  # type: ignore[index]


def test_an_existing_run_directory_is_refused_with_the_way_out(path: Path) -> None:
    create(path).close()
    with pytest.raises(UserError, match=r"exists; a run is never overwritten\. Continue it with resume="):
        create(path)


def test_two_processes_cannot_write_one_run(path: Path) -> None:
    store = create(path)
    code = f"from pathlib import Path; from experiments.store import RunStore; RunStore(Path({str(path)!r}))"
    second = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "is being written by process" in second.stderr
    store.close()
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


async def test_the_best_kernel_of_a_task_is_that_of_the_fastest_champion(path: Path) -> None:
    store = create(path)
    for seed, speedup in ((0, 1.5), (1, 2.5), (2, 2.0)):
        sha = store.put_kernel(f"# {speedup}\n")
        name = f"quick/add@{seed}"
        await store.write_attempt(records.attempt(name, speedup=speedup, kernel_sha=sha))
        await store.write_trajectory(records.trajectory(name, kernel_sha=sha))
    assert (path / "best" / "quick" / "add.py").read_text() == "# 2.5\n"


async def test_the_champions_of_a_run_are_the_best_of_each_task_so_far(path: Path) -> None:
    store = create(path)
    assert store.champions() == {}
    for name, speedup in (("quick/add@1", 1.5), ("quick/add@0", 1.5), ("quick/add@2", 1.2), ("quick/sum@0", 0.5)):
        sha = store.put_kernel(name)
        await store.write_attempt(records.attempt(name, kernel_sha=sha, speedup=speedup))
        await store.write_trajectory(records.trajectory(name, kernel_sha=sha))
    assert {task: store.kernel(sha) for task, sha in store.champions().items()} == {"quick/add": "quick/add@0", "quick/sum": "quick/sum@0"}


@pytest.mark.parametrize(
    ("task", "file"),
    [("kernelgenbench/aten.add_", "kernelgenbench/aten.add_.py"), ("../../x.py:f", "x.py_f.py"), ("/etc/./x.py:f", "etc/x.py_f.py")],
)
def test_the_best_kernel_never_leaves_the_run(path: Path, task: str, file: str) -> None:
    assert create(path).best(task) == path / "best" / file


async def test_a_broken_store_takes_paid_calls_and_nothing_else(path: Path) -> None:
    store = create(path)
    store.broken = UserError("down")
    await store.write_call(records.call())
    with pytest.raises(UserError, match="down"):
        await store.write_attempt(records.attempt())
    assert len(lines(path, "calls")) == 1
    assert not (path / "attempts.jsonl").read_text()


async def test_listeners_hear_of_every_record(path: Path) -> None:
    store = create(path)
    heard: list[str] = []
    store.listeners.append(lambda name, fields: heard.append(name))
    await store.write_call(records.call())
    await store.write_attempt(records.attempt())
    await store.write_trajectory(records.trajectory())
    assert heard == ["call", "attempt", "trajectory"]
    assert [line["event"] for line in lines(path, "log")] == heard
    assert asdict(records.call())["identity"] == lines(path, "calls")[0]["identity"]
