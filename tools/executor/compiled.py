"""What a candidate's kernels compiled to, kept for its next evaluation under its own text and the toolchain.

A sandbox fills its own Triton cache, so what comes out of one is given back to the same candidate only, unpacked inside its walls.
"""

import contextlib
import hashlib
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

MOST_BYTES = 64 << 20
"""Of one candidate."""
TOTAL_BYTES = 2 << 30
"""Of all; the longest unused go first."""
_PLAIN = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def key(source: bytes, toolchain: Any) -> str:
    """`toolchain`: versions and targets, JSON-like."""
    return hashlib.sha256(json.dumps(toolchain, sort_keys=True).encode() + b"\0" + source).hexdigest()


class CompileCache:
    """A folder with a file per candidate and toolchain, `total` bytes at most. None as the folder keeps nothing."""

    def __init__(self, folder: Path | None, total: int = TOTAL_BYTES):
        self.folder = folder
        self.total = total

    def get(self, key: str) -> bytes | None:
        if self.folder is None:
            return None
        path = self.folder / key
        try:
            data = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return data

    def put(self, key: str, data: bytes) -> None:
        """Keeps `data` where there is room and a folder that may be written: a full disk costs time, not a verdict."""
        if self.folder is not None and 0 < len(data) <= MOST_BYTES:
            with contextlib.suppress(OSError):
                self._write(self.folder, key, data)
                self._evict(self.folder)

    def _write(self, folder: Path, key: str, data: bytes) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            file.write(data)
            file.flush()
            # A file that is whole gets its name at once; one that is not goes with the block.
            with contextlib.suppress(FileExistsError):
                os.link(file.name, folder / key)

    def _evict(self, folder: Path) -> None:
        files = sorted(((e.stat().st_mtime, e.stat().st_size, e.path) for e in os.scandir(folder)), reverse=True)
        total = 0
        for _, size, path in files:
            total += size
            if total > self.total:
                # Another process may have been faster.
                with contextlib.suppress(FileNotFoundError):
                    Path(path).unlink()


def default_folder() -> Path | None:
    """`$KERNELWRIGHT_CACHE`, where `off` means none, else below the user's cache directory."""
    chosen = os.environ.get("KERNELWRIGHT_CACHE")
    if chosen == "off":
        return None
    return Path(chosen or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "kernelwright").expanduser() / "compiled"


def pack(folder: Path) -> bytes:
    """The files of a Triton cache, two levels deep, as one text of bytes."""
    files = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.glob("*/*")) if p.is_file() and not p.is_symlink()}
    head = json.dumps([[name, len(data)] for name, data in files.items() if _PLAIN.fullmatch(name)]).encode()
    return len(head).to_bytes(4) + head + b"".join(data for name, data in files.items() if _PLAIN.fullmatch(name))


def unpack(data: bytes, folder: Path) -> None:
    """Raises `ValueError` for what `pack` has not made."""
    start = 4 + int.from_bytes(data[:4])
    for name, size in json.loads(data[4:start]):
        if not _PLAIN.fullmatch(name):
            raise ValueError(f"no file of a Triton cache: {name!r}")
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        # What is there may be a library in use, and pages of it must not change.
        if not path.exists():
            path.write_bytes(data[start : start + size])
        start += size
