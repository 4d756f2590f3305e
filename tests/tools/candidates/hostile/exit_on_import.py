"""Leaves by sys.exit(0) while it is imported.

Row: 42 (ends before the check).
Expected: import_error at import.
Naive: passes.
"""
import sys

sys.exit(0)
