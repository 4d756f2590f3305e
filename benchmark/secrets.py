"""Environment variables that hold keys: whoever asks a model reads them by name, and no child process gets them."""

import os

ENDINGS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS")
NAMED: set[str] = set()
"""Variables that a user named as the place of a key, whatever their names end with."""


def read(name: str) -> str | None:
    """A variable that holds a key; from now on it is left out of children's environments."""
    NAMED.add(name)
    return os.environ.get(name)


def without() -> dict[str, str]:
    """This process's environment without keys."""
    return {name: value for name, value in os.environ.items() if name not in NAMED and not name.upper().endswith(ENDINGS)}
