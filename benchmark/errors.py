"""The one error that is the user's: printed as a sentence, exit code 2, no traceback."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """A mistake of the user's. The message is one sentence with the valid choices and the remedy."""


MANY = 40
"""Choices up to which a sentence names them all."""


def unknown(kind: str, name: str, choices: Iterable[str]) -> UserError:
    """An error for a name that is none of `choices`, with the nearest one suggested."""
    choices = sorted(choices)
    near = get_close_matches(name, choices, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    if len(choices) > MANY:
        close = get_close_matches(name, choices, n=5, cutoff=0.3) or choices[:5]
        return UserError(f"Unknown {kind} {name!r}.{hint} The nearest of {len(choices)} choices: {', '.join(close)}.")
    return UserError(f"Unknown {kind} {name!r}.{hint} Choose one of: {', '.join(choices)}.")
