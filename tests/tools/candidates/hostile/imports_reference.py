"""Imports the reference instead of computing.

Row: 3 (imports the reference).
Expected: import_error at import.
Naive: passes.
"""
from benchmark.suites.kernelbench_x.math.arithmetic import softmax
