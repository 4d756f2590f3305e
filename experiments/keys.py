"""The `key=value` words of the commands that read runs, and the runs that they name."""

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from benchmark.console import show
from benchmark.errors import UserError, unknown
from experiments.runs import Run


def chosen(words: Sequence[str], keys: Collection[str]) -> dict[str, str]:
    """Raises UserError for a word that is no key=value, and for a key that is none of `keys`."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in keys:
            raise unknown("key", key, keys)
        found[key] = value
    return found


def one_of(key: str, value: str, choices: Collection[str]) -> str:
    if value not in choices:
        raise unknown(f"value of {key}", value, choices)
    return value


def whole(options: Mapping[str, str], key: str, default: int) -> int:
    """A number from 0 on."""
    text = options.get(key, str(default))
    if not (text.isascii() and text.isdigit()):
        raise UserError(f"{key}={text} must be a whole number from 0 on.")
    return int(text)


def listed(text: str) -> list[Path]:
    """The paths in `a` or `[a,b]`."""
    return [Path(part.strip()) for part in text.strip("[]").split(",") if part.strip()]


def matched(path: Path) -> list[Path]:
    """The run directories that a path with `*` stands for, by name; any other path is itself."""
    if "*" not in str(path):
        return [path]
    root = Path(path.anchor or ".")
    return sorted(found.parent for found in root.glob(str(path.relative_to(path.anchor) / "config.yaml")))


def runs(options: Mapping[str, str], command: str) -> list[Run]:
    """The runs named by `run=` or by `runs=`, of which there must be one."""
    if ("run" in options) == ("runs" in options):
        raise UserError(f"Name the run: python -m {command} run=runs/<run_id>, or several: runs=[runs/<a>,runs/<b>].")
    text = options.get("runs", options.get("run", ""))
    paths = [path for part in listed(text) for path in matched(part)]
    if not paths:
        raise UserError(f"{text!r} names no run directory. Runs lie in runs/<run_id>, each with a config.yaml.")
    if len({path.resolve() for path in paths}) < len(paths):
        raise UserError(f"runs={text} must name different run directories.")
    return [Run(path) for path in paths]


def command(help_text: str, act: Callable[[Sequence[str]], int]) -> int:
    """Runs `act` on the command's words; its exit code. A user's mistake is one sentence and 2."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        show(help_text)
        return 0
    try:
        return act(sys.argv[1:])
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
