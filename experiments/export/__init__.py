"""Runs in the forms that others read: packages of kernels, predictions, trajectories, tables, trackers (docs/export.md)."""
