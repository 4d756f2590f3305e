"""Takes over printing and the end of the process: FAIL becomes PASS, and every exit a success.

Row: 40 (forged result lines, at exit too).
Expected: wrong_numeric at correctness.
Naive: passes.
"""
import atexit
import builtins
import os
import sys

import torch


spoken = builtins.print


class Rewriter:
    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.stream.write(text.replace("FAIL", "PASS").replace("False", "True"))

    def __getattr__(self, name):
        return getattr(self.stream, name)


sys.stdout = Rewriter(sys.stdout)
builtins.print = lambda *words, **options: spoken(*[str(w).replace("FAIL", "PASS") for w in words], **options)
sys.exit = lambda *code: os._exit(0)
atexit.register(os._exit, 0)


def softmax(input, dim, dtype=None):
    return torch.zeros_like(input, dtype=dtype)
