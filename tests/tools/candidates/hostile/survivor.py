"""Leaves a daemon behind that goes on writing, and returns zeros.

Row: none (infrastructure attack).
Expected: wrong_numeric at correctness.
"""
import os
import time

import torch

if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sleep", ["kernelwright-survivor", "600"])
    os._exit(0)
time.sleep(0.1)


def softmax(input, dim, dtype=None):
    return torch.zeros_like(input, dtype=dtype)
