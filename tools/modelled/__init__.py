"""Modelled time: what a candidate and eager torch would take on hardware, from counts and vendor figures. It decides nothing.

A time is a sum over launches, each the longest of what bounds it (see `tools.modelled.launch` for kernels, `tools.modelled.eager`
for torch's own). It is no measurement: it is shown with its hardware and how it was counted, and enters no table of results.
"""

from tools.modelled.eager import Eager, eager
from tools.modelled.launch import Launch, Took, took
from tools.modelled.record import Size, record, speedup, unknown

__all__ = ["Eager", "Launch", "Size", "Took", "eager", "record", "speedup", "took", "unknown"]
