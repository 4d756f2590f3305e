"""What changed between two modules: as text for a prompt, and by lines."""

import difflib
from collections.abc import Iterator

MAX_DIFF = 4000
"""Characters of a diff in a prompt."""
MAX_PRODUCT = 4_000_000
"""Lines times lines that are compared one by one: about a second at worst."""
CONTEXT = 2


def difference(before: str, after: str, limit: int = MAX_DIFF) -> str:
    """The change from `before` to `after` as hunks of a unified diff, at most `limit` characters; empty where no line differs."""
    old, new = lines(before), lines(after)
    if not comparable(old, new):
        return f"(two modules of {len(old)} and {len(new)} lines, too long to compare)\n"
    made = [line for line in difflib.unified_diff(old, new, n=CONTEXT, lineterm="") if not line.startswith(("---", "+++"))]
    kept: list[str] = []
    for line in made:
        if sum(len(k) + 1 for k in kept) + len(line) + 40 > limit:
            kept.append(f"({len(made) - len(kept)} more lines of the diff)")
            break
        kept.append(line)
    return "".join(f"{line}\n" for line in kept)


def spans(before: str, after: str) -> Iterator[tuple[int, int]]:
    """What changed, as half-open spans of `before`'s lines from 0; an insertion is empty and stands before its first number."""
    old, new = lines(before), lines(after)
    if not comparable(old, new):
        yield 0, len(old)
        return
    for kind, first, last, _, _ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield first, last


def lines(source: str) -> list[str]:
    """Without what nobody sees at their ends."""
    return [line.rstrip() for line in source.splitlines()]


def comparable(old: list[str], new: list[str]) -> bool:
    return len(old) * len(new) <= MAX_PRODUCT
