"""Where simulated mode works."""

from importlib.metadata import version

from benchmark.errors import UserError

FIRST, LAST = (3, 7), (3, 9)
"""The Triton releases whose compiler and interpreter this package knows."""


def require(triton: str = "") -> None:
    """Raises a `UserError` where simulated mode cannot work; `triton` is the installed release unless given."""
    triton = triton or version("triton")
    release = tuple(int(part) for part in triton.split(".")[:2])
    if not FIRST <= release <= LAST:
        known = " to ".join(".".join(map(str, r)) for r in (FIRST, LAST))
        raise UserError(f"The simulated device needs triton {known}, and this is {triton}: install one of these, or use a GPU.")
