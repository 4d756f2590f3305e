"""Closes every descriptor and waits. Expected: crash"""
import os
import time


def softmax(input, dim, dtype=None):
    os.closerange(0, 256)
    time.sleep(600)
