"""Figures of runs: pure functions over frames, each with its definition and source."""
