"""Trusted processes: they make inputs and know the truth, and candidate code never runs in them, so that they are believed."""
