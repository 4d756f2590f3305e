"""Reads from address 0. Expected: crash"""
import ctypes


def softmax(input, dim, dtype=None):
    return ctypes.string_at(0)
