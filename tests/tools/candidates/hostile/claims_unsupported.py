"""Calls its failure one that does not count.

Row: none (an error that asks not to be counted).
Expected: runtime_error at correctness.
"""


class Unsupported(BaseException):
    message = "The simulated device cannot do this."


def softmax(input, dim, dtype=None):
    raise Unsupported
