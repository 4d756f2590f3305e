"""Compiled kernels are kept for the candidate that they belong to."""

import asyncio
import os
import resource
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.suites import find
from tools.executor import compiled
from tools.executor.compiled import CompileCache
from tools.executor.local import LocalExecutor
from tools.settings import Settings

HONEST = (Path(__file__).parents[1] / "candidates/honest/silu.py").read_text()
NAMES = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,9}/[A-Za-z0-9_][A-Za-z0-9_.-]{0,9}", fullmatch=True)


def test_second_evaluation_compiles_nothing(tmp_path):
    async def evaluate() -> list[float]:
        executor = LocalExecutor(workers=1, cache=CompileCache(tmp_path))
        found = [await executor.evaluate(HONEST, find("quick/silu"), Settings(device="simulated")) for _ in range(2)]
        await executor.close()
        assert [e.verdict for e in found] == ["pass"] * 2
        assert found[0].compile[0]["kernels"] == found[1].compile[0]["kernels"] != []
        return [e.compile[0]["seconds"] for e in found]

    first, second = asyncio.run(evaluate())
    assert second < first / 2
    assert len(list(tmp_path.iterdir())) == 1


def test_another_text_or_toolchain_is_another_key():
    known = {compiled.key(text, chain) for text in (b"a", b"b") for chain in (["3.6", "90"], ["3.9", "90"], ["3.6", "80"])}
    assert len(known) == 6


@given(files=st.dictionaries(NAMES, st.binary(max_size=50), max_size=5))
def test_what_is_packed_comes_back(files, tmp_path_factory):
    folder, other = tmp_path_factory.mktemp("a"), tmp_path_factory.mktemp("b")
    written = {}
    for name, data in files.items():
        path = folder / name
        if path.parent.is_file() or path.is_dir():
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        written[name] = data
    compiled.unpack(compiled.pack(folder), other)
    assert {str(p.relative_to(other)): p.read_bytes() for p in other.rglob("*") if p.is_file()} == written


def test_links_are_not_packed(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/secret").symlink_to("/etc/passwd")
    (tmp_path / "a/plain").write_bytes(b"x")
    head = compiled.pack(tmp_path)
    assert b"plain" in head
    assert b"secret" not in head


def test_file_that_is_there_is_not_touched(tmp_path):
    """It may be a library that is loaded already."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a/lib.so").write_bytes(b"loaded")
    head = b'[["a/lib.so", 3], ["a/new", 3]]'
    compiled.unpack(len(head).to_bytes(4) + head + b"oldnew", tmp_path)
    assert (tmp_path / "a/lib.so").read_bytes() == b"loaded"
    assert (tmp_path / "a/new").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["../up/x", "/etc/x", "a/../b", "x", "a/b/c", ".a/x"])
def test_name_that_leaves_the_folder_is_refused(tmp_path, name):
    head = f'[["{name}", 1]]'.encode()
    with pytest.raises(ValueError, match="no file of a Triton cache"):
        compiled.unpack(len(head).to_bytes(4) + head + b"x", tmp_path)


def test_longest_unused_goes_first(tmp_path):
    cache = CompileCache(tmp_path, total=25)
    for age, name in enumerate(("old", "used", "new")):
        cache.put(name, b"0123456789")
        os.utime(tmp_path / name, (age, age))
    assert cache.get("used") == b"0123456789"
    cache.put("last", b"0123456789")
    assert {p.name for p in tmp_path.iterdir()} == {"used", "last"}


def test_nothing_is_kept_without_a_folder():
    cache = CompileCache(None)
    cache.put("k", b"data")
    assert cache.get("k") is None


def test_folder_that_cannot_be_written_costs_nothing(tmp_path):
    (tmp_path / "file").write_text("no folder")
    for folder in (tmp_path / "file", Path("/proc/nowhere")):
        cache = CompileCache(folder)
        cache.put("k", b"data")
        assert cache.get("k") is None


def test_disk_that_is_full_leaves_no_part_of_a_file(tmp_path):
    cache = CompileCache(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        cache.put("k", bytes(1 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert list(tmp_path.iterdir()) == []
