"""Answers with a layout that names the same 256 MiB of the shared memory a thousand times, which the judge is to copy.

Row: none (exhausts the memory of the judge).
Expected: wrong_dtype at correctness.
Needs: simulated device.
"""
import sys
import time

import torch


def channel_and_number():
    frame = sys._getframe()
    while "id" not in frame.f_locals.get("request", ()):
        frame = frame.f_back
    owner = frame.f_locals["self"]
    return getattr(owner, "channel", None) or owner.sandbox.channel, frame.f_locals["request"]["id"]


def softmax(input, dim, dtype=None):
    channel, number = channel_and_number()
    all_of_it = {"t": {"dtype": "uint8", "shape": [1 << 28], "strides": [1], "offset": 0, "extent": 1 << 28}}
    channel.send({"id": number, "launches": 1, "after": [], "result": {"l": [{"l": [all_of_it] * 16}] * 60}})
    time.sleep(30)
    return torch.zeros_like(input, dtype=dtype)
