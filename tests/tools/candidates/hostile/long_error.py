"""An exception longer than any message may be.

Row: none (infrastructure attack).
Expected: runtime_error at correctness.
"""


class Long(Exception):
    detail = {f"key {number}": "\U0001f9e8" * 4096 for number in range(100)}


def softmax(input, dim, dtype=None):
    raise Long("\U0001f9e8" * 1_000_000)
