"""Calls its failure one that does not count. Expected: runtime_error"""


class Unsupported(BaseException):
    message = "The simulated device cannot do this."


def softmax(input, dim, dtype=None):
    raise Unsupported
