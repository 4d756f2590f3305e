"""JSON lines that survive a kill and a full disk: one fsynced line per record, a torn last line dropped at load."""

import json
import math
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.errors import UserError

SCHEMA_VERSION = 1


def full(path: Path, error: OSError) -> UserError:
    """The sentence for a write that the system refused; what was written before is whole."""
    run = next((p for p in path.parents if (p / "config.yaml").exists()), None)
    again = f"continue with resume={run}" if run else "start again"
    return UserError(
        f"Cannot write {path}: {error.strerror or error}. What was recorded before is intact; "
        f"make room or mend the directory's rights, then {again}."
    )


def encode(record: Any) -> bytes:
    """Strict JSON in UTF-8. Numbers that are not finite become null; lone surrogates keep their escape, so that text comes back whole."""
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    except ValueError:
        text = json.dumps(finite(record), ensure_ascii=False, allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(json.loads(text), allow_nan=False).encode()


def finite(value: Any) -> Any:
    """`value` with every number that JSON has no word for replaced by None."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    return [finite(v) for v in value] if isinstance(value, list | tuple) else value


@dataclass
class Loaded:
    records: list[dict[str, Any]]
    size: int
    """Bytes up to the end of the last whole line."""
    torn: int
    """Bytes of a last line that was cut by a kill, and is not among `records`."""


def read(path: Path) -> Loaded:
    """All records of a file, without its torn last line; a missing file is empty."""
    data = path.read_bytes() if path.exists() else b""
    lines = data.split(b"\n")
    torn = len(lines.pop())
    records: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(json.loads(line))
        except ValueError:
            if number < len(lines) or torn:
                raise UserError(f"{path} line {number} is not a JSON record; something else has changed the file.") from None
            torn = len(line) + 1
    return Loaded(records, len(data) - torn, torn)


class Lines:
    """A file open for appending. A line that could not be written whole is taken back before the error is raised."""

    def __init__(self, path: Path, size: int | None = None, sync: bool = True):
        """`size` cuts the file to its whole lines first; `sync=False` is for logs, which may lose their end."""
        self.path = path
        self.sync = sync
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        if size is not None:
            os.ftruncate(self.file, size)

    def append(self, record: dict[str, Any]) -> None:
        self.write(encode({"schema_version": SCHEMA_VERSION, **record}) + b"\n")

    def write(self, line: bytes) -> None:
        found = os.fstat(self.file)
        if not found.st_nlink:
            raise UserError(f"{self.path} was removed while it was being written, and what it held with it; start again.")
        try:
            while line:
                line = line[os.write(self.file, line) :]
            if self.sync:
                os.fsync(self.file)
        except OSError as error:
            os.ftruncate(self.file, found.st_size)
            raise full(self.path, error) from error

    def close(self) -> None:
        os.close(self.file)


def sync(folder: Path) -> None:
    """Makes the names in a folder last: a file's own sync does not."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def put(path: Path, data: bytes) -> None:
    """Writes a whole file or nothing, durably."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            left = data
            while left:
                left = left[os.write(file, left) :]
            os.fsync(file)
        finally:
            os.close(file)
        part.replace(path)
        sync(path.parent)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise full(path, error) from error
