"""Writes off the event loop: a line comes after the texts that it names, and many lines share a sync."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.errors import UserError
from experiments.disk import Disk, landed
from tools import jsonl


class Held:
    """A write that waits until it is let go."""

    def __init__(self, write: Callable[..., None]):
        self.write = write
        self.gate = threading.Event()
        self.calls: list[Any] = []

    def __call__(self, *args: Any) -> None:
        self.calls.append(args)
        assert self.gate.wait(10)
        self.write(*args)


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    disk.close()


def records(file: jsonl.Lines) -> list[int]:
    return [record["n"] for record in jsonl.read(file.path).records]


def test_a_line_waits_for_the_text_that_it_names(disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(jsonl.put)
    monkeypatch.setattr(jsonl, "put", held)
    lines, text = jsonl.Lines(tmp_path / "calls.jsonl"), tmp_path / "texts" / "a"
    disk.put(text, b"reply")
    done = disk.append(lines, {"n": 0}, [text])
    assert disk.read(text) == b"reply"
    assert not text.exists()
    assert records(lines) == []
    held.gate.set()
    done.result(10)
    assert (text.read_bytes(), records(lines)) == (b"reply", [0])
    assert disk.unsaved == {}


def test_a_line_whose_text_could_not_be_written_is_not_written_and_others_are(disk: Disk, tmp_path: Path) -> None:
    (tmp_path / "full").touch()
    lines, text = jsonl.Lines(tmp_path / "calls.jsonl"), tmp_path / "full" / "a"
    disk.put(text, b"reply")
    refused, taken = disk.append(lines, {"n": 0}, [text]), disk.append(lines, {"n": 1})
    taken.result(10)
    with pytest.raises(UserError, match="Cannot write"):
        refused.result(10)
    with pytest.raises(UserError, match="Cannot write"):
        disk.append(lines, {"n": 2}, [text]).result(10)
    assert records(lines) == [1]


def test_lines_that_wait_together_share_a_sync_and_keep_their_order(disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(os.fsync)
    monkeypatch.setattr(os, "fsync", held)
    lines = jsonl.Lines(tmp_path / "calls.jsonl")
    written = [disk.append(lines, {"n": n}) for n in range(100)]
    held.gate.set()
    for done in written:
        done.result(10)
    assert records(lines) == list(range(100))
    assert len(held.calls) <= 2


async def test_the_loop_goes_on_and_a_cancelled_wait_stops_no_write(disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Held(os.fsync)
    monkeypatch.setattr(os, "fsync", held)
    lines = jsonl.Lines(tmp_path / "calls.jsonl")
    written = disk.append(lines, {"n": 0})
    waiting = asyncio.create_task(landed(written))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    held.gate.set()
    await landed(written)
    assert records(lines) == [0]


def test_the_last_content_of_a_file_stands(disk: Disk, tmp_path: Path) -> None:
    for number in range(50):
        last = disk.replace(tmp_path / "best.py", str(number).encode())
    last.result(10)
    assert (tmp_path / "best.py").read_text() == "49"
