"""Models: what answers a prompt. `agents/models/base.py` has the words; one module per kind of model."""

from agents.models.make import make

__all__ = ["make"]
