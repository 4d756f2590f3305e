"""Ends its process with success before the check. Expected: crash"""
import os


def softmax(input, dim, dtype=None):
    os._exit(0)
