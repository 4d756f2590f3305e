"""Reads replies: a candidate from fenced code, a reflection from its labelled lines. Never raises, whatever the text is."""

import re
from dataclasses import dataclass

MAX_SOURCE = 256 * 1024
"""Longest candidate in characters; hand-written kernels stay below a tenth of it."""
MAX_LINE = 200
MAX_NOTE = 1500
LANGUAGES = frozenset({"", "python", "python3", "py", "triton"})
FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*([^\s`{]*)[^`]*$")


@dataclass(frozen=True)
class Parsed:
    """A candidate, or None; `outcome` is `ok`, or why there is none, or by which rule it was chosen."""

    source: str | None
    outcome: str


@dataclass(frozen=True)
class Reflection:
    note: str
    lesson: str
    """One line that later attempts keep."""


@dataclass
class Block:
    language: str
    indent: str
    fence: str
    lines: list[str]
    closed: bool = False

    def closes(self, line: str) -> bool:
        bare = line.strip()
        same = bare[:1] == self.fence[0] and len(bare) >= len(self.fence) and set(bare) == {self.fence[0]}
        return same and len(line) - len(line.lstrip()) <= len(self.indent) + 3

    @property
    def text(self) -> str:
        """The lines without the indentation of the fence, which a list item may have given them all."""
        if not self.indent:
            return "\n".join(self.lines) + "\n"
        return "\n".join(line.removeprefix(self.indent) for line in self.lines) + "\n"


def blocks(text: str) -> list[Block]:
    """Fenced blocks in order; at most the last one is not closed. A fence inside a block is text."""
    found: list[Block] = []
    current: Block | None = None
    for line in text.replace("\r\n", "\n").split("\n"):
        if current is not None:
            if current.closes(line):
                current.closed, current = True, None
            else:
                current.lines.append(line)
        elif match := FENCE.match(line):
            current = Block(match[3].lower(), match[1], match[2], [])
            found.append(current)
    return found


def code(text: str, entry: str) -> Parsed:
    """The candidate in a reply: the last complete block that defines the entry point, else an unclosed one that does, else the last one."""
    python = [b for b in blocks(text) if b.language in LANGUAGES and any(line.strip() for line in b.lines)]
    if not python:
        return Parsed(None, "no fenced code block")
    defines = re.compile(rf"^(?:def[ \t]+)?(?:{re.escape(entry)}|kernel_function)[ \t]*(?:\(|=|:)", re.MULTILINE)
    closed = [b for b in python if b.closed]
    fitting = [b for b in closed if defines.search(b.text)]
    opened = [b for b in python if not b.closed and defines.search(b.text)]
    if fitting:
        return checked(fitting[-1].text, "ok" if len(python) == 1 else f"last of {len(python)} blocks that defines the entry point")
    if opened:
        return checked(opened[-1].text, "unclosed fence")
    if closed:
        return checked(closed[-1].text, "ok" if len(python) == 1 else f"last of {len(python)} blocks, none defines the entry point")
    return Parsed(None, "unclosed fence")


def checked(source: str, outcome: str) -> Parsed:
    if len(source) > MAX_SOURCE:
        return Parsed(None, f"code longer than {MAX_SOURCE} characters")
    if readable(source) != source:
        return Parsed(None, "code is not valid UTF-8")
    return Parsed(source, outcome)


def strategy(text: str) -> str:
    """The last `Strategy:` line outside code, without its label."""
    return labelled(text, "strategy")


def reflection(text: str) -> Reflection:
    """A reflector's note, and its `Lesson:` line or else its first sentence."""
    note = readable(text.strip())[:MAX_NOTE]
    first = next((line.strip(" #*-\t") for line in note.split("\n") if line.strip(" #*-\t")), "")
    return Reflection(note, labelled(text, "lesson") or first[:MAX_LINE])


def labelled(text: str, label: str) -> str:
    pattern = re.compile(rf"^[ \t#>*_-]{{0,8}}{label}[*_]{{0,2}}:[*_]{{0,2}}[ \t]*(\S.*)$", re.IGNORECASE)
    found = [match[1] for line in prose(text) if (match := pattern.match(line[: 2 * MAX_LINE]))]
    return readable(found[-1].strip(" *_\t"))[:MAX_LINE] if found else ""


def prose(text: str) -> list[str]:
    """The lines outside fenced blocks."""
    current: Block | None = None
    lines = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if current is not None:
            current = None if current.closes(line) else current
        elif match := FENCE.match(line):
            current = Block("", match[1], match[2], [])
        else:
            lines.append(line)
    return lines


def readable(text: str) -> str:
    """The text with what UTF-8 cannot hold (lone surrogates) replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
