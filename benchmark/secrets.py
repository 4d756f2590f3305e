"""Environment variables that hold keys: whoever asks a model reads them by name, and no child process gets them."""

import os

ENDINGS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS")
SHORT = 8
"""A value of fewer characters is no key, but a word such as `none` for a server that wants none."""
NAMED: set[str] = set()
"""Variables that a user named as the place of a key, whatever their names end with."""


def read(name: str) -> str | None:
    """A variable that holds a key; from now on it is left out of children's environments."""
    NAMED.add(name)
    return os.environ.get(name)


def without() -> dict[str, str]:
    """This process's environment without keys."""
    return {name: value for name, value in os.environ.items() if not secret(name)}


def secret(name: str) -> bool:
    return name in NAMED or name.upper().endswith(ENDINGS)


def redact(text: str) -> str:
    """`text` with the names of variables in place of the keys that they hold."""
    held = {value: name for name, value in os.environ.items() if secret(name) and len(value) >= SHORT}
    for value in sorted(held, key=len, reverse=True):
        text = text.replace(value, f"[{held[value]}]")
    return text
