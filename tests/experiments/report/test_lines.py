"""Records by trajectory, from the file."""

from pathlib import Path

import pytest

from benchmark.errors import UserError
from experiments.report.lines import Lines


def lines(path: Path, text: str) -> Lines:
    path.write_text(text)
    return Lines(path, lambda record: str(record["trajectory"]))


def test_records_of_a_trajectory_come_in_the_files_order(tmp_path: Path) -> None:
    found = lines(tmp_path / "a.jsonl", '{"trajectory": "a", "n": 1}\n{"trajectory": "b"}\n{"trajectory": "a", "n": 2}\n')
    assert [record["n"] for record in found.read("a")] == [1, 2]
    assert found.read("c") == []


def test_a_torn_last_line_is_left_out_and_said(tmp_path: Path) -> None:
    found = lines(tmp_path / "a.jsonl", '{"trajectory": "a"}\n{"traj')
    assert (len(found.read("a")), found.torn) == (1, 6)


def test_a_line_that_something_else_changed_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="line 1 is not a JSON record"):
        lines(tmp_path / "a.jsonl", 'no\n{"trajectory": "a"}\n')
