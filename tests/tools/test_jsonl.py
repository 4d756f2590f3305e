"""Lines on disk: what a kill, a full disk and strange text do to them."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.errors import UserError
from tools import jsonl

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_any_text_comes_back_as_it_was(value: object) -> None:
    line = jsonl.encode({"value": value})
    assert b"\n" not in line
    assert json.loads(line.decode("utf-8")) == {"value": value}


def test_lone_surrogates_are_written_as_valid_utf8_and_come_back() -> None:
    assert json.loads(jsonl.encode({"text": "a\udc80b\u00e9"}).decode("utf-8")) == {"text": "a\udc80b\u00e9"}


def test_numbers_that_are_not_finite_become_null() -> None:
    assert json.loads(jsonl.encode({"a": float("nan"), "b": [float("inf"), 1.5], "c": {"d": -float("inf")}})) == {
        "a": None,
        "b": [None, 1.5],
        "c": {"d": None},
    }


@given(cut=st.integers(min_value=1, max_value=30))
def test_a_torn_last_line_is_dropped_and_counted(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("torn") / "calls.jsonl"
    whole, last = jsonl.encode({"n": 1}) + b"\n", jsonl.encode({"text": "x" * 30, "n": 2}) + b"\n"
    path.write_bytes(whole + last[:cut])
    loaded = jsonl.read(path)
    assert (loaded.records, loaded.size, loaded.torn) == ([{"n": 1}], len(whole), cut)


def test_a_line_broken_in_the_middle_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": \n{"n": 3}\n')
    with pytest.raises(UserError, match=r"calls\.jsonl line 2"):
        jsonl.read(path)


def test_every_line_carries_the_schema_version(tmp_path: Path) -> None:
    lines = jsonl.Lines(tmp_path / "x.jsonl")
    lines.append({"n": 1})
    lines.close()
    assert json.loads((tmp_path / "x.jsonl").read_text()) == {"schema_version": jsonl.SCHEMA_VERSION, "n": 1}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("needs the right to mount a small file system")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_is_a_sentence_and_leaves_whole_lines(small_disk: Path) -> None:
    lines = jsonl.Lines(small_disk / "calls.jsonl")
    written = iter(range(1000))
    with pytest.raises(UserError, match=r"Cannot write .*No space left.*start again"):
        fill(lines, written)
    loaded = jsonl.read(small_disk / "calls.jsonl")
    assert (len(loaded.records), loaded.torn) == (next(written) - 1, 0)
    assert len(loaded.records) > 3


def test_a_file_that_was_removed_is_a_sentence(tmp_path: Path) -> None:
    lines = jsonl.Lines(tmp_path / "x.jsonl")
    lines.append({"n": 1})
    (tmp_path / "x.jsonl").unlink()
    with pytest.raises(UserError, match=r"x.jsonl was removed while it was being written.*start again"):
        lines.append({"n": 2})


def test_the_name_of_a_whole_file_is_synced_after_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def note(file: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{file}").readlink()))
        fsync(file)

    monkeypatch.setattr(os, "fsync", note)
    jsonl.put(tmp_path / "kernels" / "a.py", b"x")
    assert synced == [f"{tmp_path}/kernels/.a.py.{os.getpid()}", f"{tmp_path}/kernels"]


def test_a_whole_file_is_written_or_nothing(small_disk: Path) -> None:
    with pytest.raises(UserError, match="No space left"):
        jsonl.put(small_disk / "kernels" / "a.py", b"x" * 100_000)
    assert list((small_disk / "kernels").iterdir()) == []


def fill(lines: jsonl.Lines, numbers: Iterator[int]) -> None:
    """Writes lines until the disk is full; the last number that was taken is that of the line which did not fit."""
    for number in numbers:
        lines.append({"number": number, "text": "x" * 5000})
