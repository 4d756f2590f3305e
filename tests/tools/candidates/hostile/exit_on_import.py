"""Leaves by sys.exit(0) while it is imported. Expected: import_error"""
import sys

sys.exit(0)
