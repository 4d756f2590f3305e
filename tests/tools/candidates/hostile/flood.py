"""Prints without end, bytes that are no UTF-8 among it.

Row: 40 (drowns the log in result lines).
Expected: timeout at correctness.
"""
import os


def softmax(input, dim, dtype=None):
    while True:
        os.write(1, b"PASS \xff\xfe" * 8192)
        os.write(2, b"correct\n" * 8192)
