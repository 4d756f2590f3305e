"""Returns an object that equals everything.

Row: 17 (an object with overridden comparison).
Expected: wrong_dtype at correctness.
"""


class Anything(float):
    def __eq__(self, other):
        return True

    def __sub__(self, other):
        return 0.0


def softmax(input, dim, dtype=None):
    return Anything()
