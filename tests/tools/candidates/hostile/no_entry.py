"""Defines another function.

Row: none (plain mistake).
Expected: missing_entry at import.
"""


def soft_max(input, dim, dtype=None):
    return input
