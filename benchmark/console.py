"""What command lines print to standard output."""

import os
import sys


def show(text: str) -> None:
    """Prints at once. Where the reader has hung up, as `head` does, this and whatever follows is dropped without a word."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
