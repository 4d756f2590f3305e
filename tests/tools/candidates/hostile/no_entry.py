"""Defines another function. Expected: missing_entry"""


def soft_max(input, dim, dtype=None):
    return input
