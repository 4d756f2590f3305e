"""Finds the executor's own session and lets it count launches that never were; torch computes.

Row: 17 (forges what the harness has recorded).
Expected: not_triton at adversarial.
Naive: passes.
"""
import gc
import sys

import torch


def sessions():
    for thing in gc.get_objects():
        if type(thing).__name__ in ("Session", "DeviceSession") and hasattr(thing, "launches"):
            yield thing
    for name, module in list(sys.modules.items()):
        if name.startswith("tools.") and hasattr(module, "launches"):
            yield module


def softmax(input, dim, dtype=None):
    for session in sessions():
        session.launches.append("softmax_kernel")
        if session.noop:
            return torch.zeros_like(input, dtype=dtype)
    return torch.softmax(input, dim, dtype=dtype)
