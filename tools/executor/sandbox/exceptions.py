"""A candidate's exception as a verdict, one line, and what a model can use: the lines of its own file, the compiler's words."""

import contextlib
import linecache
import traceback
from pathlib import Path
from typing import Any

TEXT = 4096
"""Characters of one text that are sent."""
KINDS = {
    "CompileFailed": "compile_error",
    "CompilationError": "compile_error",
    "PTXASError": "compile_error",
    "Unsupported": "unsupported",
    "LaunchFailed": "launch_error",
    "OutOfResources": "launch_error",
    "DeviceMismatch": "device_mismatch",
    "OutOfMemoryError": "oom",
    "MemoryError": "oom",
}
"""Verdicts by the names of the exceptions of the simulated device, of triton, of torch and of Python."""
MAKERS = ("tools", "triton", "torch", "builtins")
"""Packages whose exceptions have these names; a candidate's own class of the same name is no more than an error."""


def describe(error: BaseException, box: Path) -> dict[str, Any]:
    """`kind`, `message` and `detail` of what a candidate in `box` raised."""
    known = [c.__name__ for c in type(error).__mro__ if c.__name__ in KINDS and c.__module__.partition(".")[0] in MAKERS]
    kind = KINDS[known[0]] if known else "runtime_error"
    text = _text(error)
    if kind == "runtime_error" and "can't allocate memory" in text:
        kind = "oom"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(str(box))]
    where = [f"line {f.lineno}, in {f.name}: {linecache.getline(f.filename, f.lineno or 0).strip()}" for f in frames]
    detail: dict[str, Any] = {"type": type(error).__name__[:100], "traceback": "\n".join(where)[-TEXT:]}
    if type(error).__module__.startswith("tools."):
        detail |= {key: _plain(value) for key, value in getattr(error, "detail", {}).items()}
    first = _rule(error, text) if type(error).__name__ == "CompilationError" else next(iter(text.strip().splitlines()), "")
    if text.strip() != first:
        detail["text"] = text[:TEXT]
    message = first if kind in ("compile_error", "unsupported", "launch_error", "device_mismatch") else f"{detail['type']}: {first}"
    return {"kind": kind, "message": message[:500], "detail": detail}


def _rule(error: BaseException, text: str) -> str:
    """What Triton says is wrong. It shows the source first, and where one of its assertions failed it says nothing more."""
    *source, last = text.strip().splitlines() or [""]
    cause = error.__cause__
    if last.strip() != "^" or cause is None:
        return last
    failed = traceback.extract_tb(cause.__traceback__)[-1].line if isinstance(cause, AssertionError) else ""
    return f"{type(cause).__name__}: {str(cause) or failed} in `{source[-1].strip() if source else ''}`"


def _text(error: BaseException) -> str:
    """What the exception says, or nothing where its own code fails at that."""
    with contextlib.suppress(BaseException):
        return str(getattr(error, "message", None) or error)[: 2 * TEXT].encode("utf-8", "replace").decode()
    return ""


def _plain(value: Any) -> Any:
    return value if value is None or type(value) in (bool, int) else str(value)[:TEXT]
