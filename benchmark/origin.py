"""A user's file that a task is read from: its bytes and options, as a reference sandbox is given them. Nothing here runs any of it."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Origin:
    kind: str
    """The format: `own`, `kernelbench`, `kernelbenchx`, `tritonbench_t` or `tritonbench_g`."""
    path: str
    """The task's file among `files`."""
    named: str
    """The same as the user named it, for sentences."""
    entry: str
    """The function or class in it."""
    text: str
    """The source for prompts."""
    options: dict[str, Any]
    """`task_args`, checked, with every default filled in; JSON-like."""
    digest: str
    """Of all that the task depends on."""
    search: tuple[str, ...] = ()
    """Folders among `files` from which it imports."""
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    """By path: the task's file, and what it imports that lies beside it. Empty where the code is not to run."""
    description: dict[str, Any] = field(default_factory=dict, repr=False)
    """What a reference sandbox has said of the task (`benchmark.importers.described` reads it)."""


def digest(kind: str, entry: str, path: str, options: dict[str, Any], files: dict[str, bytes], search: tuple[str, ...]) -> str:
    """Of a task's files and options."""
    head = [kind, entry, path, options, search, [[name, hashlib.sha256(data).hexdigest()] for name, data in sorted(files.items())]]
    return hashlib.sha256(json.dumps(head, sort_keys=True).encode()).hexdigest()


def packed(files: dict[str, bytes]) -> bytes:
    """The files as one text of bytes: their number of bytes and names, then all of them."""
    head = json.dumps([[name, len(data)] for name, data in files.items()]).encode()
    return len(head).to_bytes(4) + head + b"".join(files.values())


def unpacked(data: bytes) -> dict[str, bytes]:
    start, files = 4 + int.from_bytes(data[:4]), {}
    for name, size in json.loads(data[4:start]):
        files[name] = data[start : start + size]
        start += size
    return files
