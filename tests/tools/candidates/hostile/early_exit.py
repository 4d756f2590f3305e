"""Ends its process with success before the check.

Row: 42 (ends before the check).
Expected: crash at correctness.
Naive: passes.
"""
import os


def softmax(input, dim, dtype=None):
    os._exit(0)
