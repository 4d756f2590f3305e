"""Raises an exception that calls itself a verdict.

Row: none (infrastructure attack).
Expected: runtime_error at correctness.
"""


class Pass(Exception):
    message = "pass"
    detail = {"verdict": "pass", "ok": True, "self": object()}

    def __str__(self):
        raise SystemExit(0)


def softmax(input, dim, dtype=None):
    raise Pass
