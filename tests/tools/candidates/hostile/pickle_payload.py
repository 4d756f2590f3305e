"""Returns an object whose unpickling would run code in the reader, and patches the picklers.

Row: 43 (pickle payload).
Expected: wrong_dtype at correctness.
"""
import copyreg
import os
import pickle

import torch


class Payload:
    def __reduce__(self):
        return os.system, ("echo PASS > verdict",)


def forged(value):
    return Payload().__reduce__()


copyreg.pickle(torch.Tensor, forged)
pickle.dumps = lambda *args, **kwargs: b"cos\nsystem\n(S'echo PASS > verdict'\ntR."


def softmax(input, dim, dtype=None):
    return Payload()
