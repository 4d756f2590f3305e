"""Texts of models, kernels and servers on their way to a terminal: no escape, no markup, nothing that turns the line around."""

from typing import Any

from rich.text import Text

LONGEST = 200_000
"""Characters of a text that are shown."""


def plain(text: Any) -> str:
    """Escapes what has no glyph of its own: control and format characters, separators, lone surrogates. Line breaks and tabs stay."""
    text = str(text)
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}\n... {len(text) - LONGEST:,} more characters"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else escaped(c) for c in text.replace("\r\n", "\n"))


def escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def line(text: Any, width: int = 0) -> str:
    """The same on one line, cut to `width` where one is given."""
    flat = " ".join(plain(text).split())
    return f"{flat[: width - 3]}..." if width and len(flat) > width else flat


def cell(text: Any, style: str = "", width: int = 0) -> Text:
    """A text that is never read as markup."""
    return Text(line(text, width), style=style, no_wrap=True, end="")
