"""Reads from address 0.

Row: none (plain mistake).
Expected: crash at correctness.
"""
import ctypes


def softmax(input, dim, dtype=None):
    return ctypes.string_at(0)
