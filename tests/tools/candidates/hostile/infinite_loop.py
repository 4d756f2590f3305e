"""Never comes back.

Row: 47 (infinite loop on the host).
Expected: timeout at correctness.
"""


def softmax(input, dim, dtype=None):
    while True:
        pass
