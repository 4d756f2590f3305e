"""Closes every descriptor and waits.

Row: 40 (tampers with the channel).
Expected: crash or timeout at correctness.
"""
import os
import time


def softmax(input, dim, dtype=None):
    os.closerange(0, 256)
    time.sleep(600)
