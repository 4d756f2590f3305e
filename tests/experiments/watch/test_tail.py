"""Files that grow: whole lines, once each, in parts."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.errors import UserError
from experiments.watch.tail import Reader, Tail, holder
from tests.experiments.cli import ROOT
from tests.experiments.watch import stores


@given(st.lists(st.text(max_size=30), max_size=8), st.integers(1, 50), st.lists(st.integers(1, 40), max_size=20))
def test_every_line_comes_once_whatever_is_written_at_a_time(texts: list[str], limit: int, steps: list[int]) -> None:
    data = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.jsonl"
        path.touch()
        tail, found, at = Tail(path), [], 0
        for step in [*steps, len(data)]:
            with path.open("ab") as file:
                file.write(data[at : at + step])
            at += step
            found += [record["text"] for record in tail.records(limit)]
        while more := tail.records(limit):
            found += [record["text"] for record in more]
    assert found == texts


def test_a_torn_last_line_waits_for_its_rest(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a":')
    tail = Tail(path)
    assert tail.records() == [{"a": 1}]
    assert tail.records() == []
    with path.open("ab") as file:
        file.write(b" 2}\n")
    assert tail.records() == [{"a": 2}]


def test_a_bad_last_line_is_read_again_once_a_resumed_run_has_replaced_it(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n\0\0\0\n')
    tail = Tail(path)
    assert tail.records() == [{"a": 1}]
    path.write_bytes(b'{"a": 1}\n{"a": 2}\n')
    assert (tail.records(), tail.skipped) == ([{"a": 2}], 0)


def test_an_evaluation_is_found_by_trajectory_and_attempt(tmp_path: Path) -> None:
    run = stores.finished(tmp_path / "run")
    reader = Reader(run.path)
    reader.poll()
    found = reader.evaluation("quick/add@0", "001.00.00")
    assert found is not None
    assert found["verdict"] == "pass"
    assert reader.evaluation("quick/sum@0", "000.00.00") is None


def test_the_lock_of_a_living_process_is_seen_and_left_alone(tmp_path: Path) -> None:
    run = stores.finished(tmp_path / "run")
    assert holder(run.path) is None
    taken = f"lock(Path({str(run.path)!r})); print(1, flush=True); sys.stdin.read()"
    code = f"import sys; from pathlib import Path; from experiments.store import lock; {taken}"
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        assert holder(run.path) == process.pid
        assert holder(run.path) == process.pid
        process.communicate()
    assert holder(run.path) is None


def test_a_run_that_is_gone_is_the_users_to_know(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="was removed"):
        Reader(tmp_path / "gone").poll()
